#include "featurize/graph/featurizer_options.hpp"

#include <xxhash.h>

#include <cstddef>
#include <string_view>

#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

constexpr std::string_view kPrefix = "molgraph-featurizer v1; features=";
/// Version of the `molgraph` columns. Increase it with every change that alters a value of any molecule. The published
/// feature sets never change.
constexpr std::string_view kMolgraphVersion = "; version=1; stereo=cip; rings=exact";

/// Increase the version with every change of the list or of a value.
constexpr std::string_view kRdkitDescriptors = "; descriptors=rdkit v1";

/// Returns the sizes of the columns, for example "119,5,12", so that a change of the vocabulary changes the hash.
template <std::size_t Size>
std::string dims_text(const std::array<int, Size>& dims, int columns) {
  std::string text;
  for (int column = 0; column < columns; ++column) {
    if (column > 0) text += ',';
    text += std::to_string(dims[static_cast<std::size_t>(column)]);
  }
  return text;
}

}  // namespace

std::string_view to_string(Standardize standardize) { return standardize == Standardize::none ? "none" : "parent"; }

Standardize standardize_from_string(std::string_view text) {
  if (text == "none") return Standardize::none;
  if (text == "parent") return Standardize::parent;
  throw UsageError("unknown standardize value '" + std::string(text) + "': expected none or parent");
}

std::string FeaturizerOptions::canonical_text() const {
  const FeatureShape& shape = feature_shape(features);
  std::string text(kPrefix);
  text += to_string(features);
  if (features == Features::molgraph) text += kMolgraphVersion;
  text += "; atoms=" + dims_text(shape.atom_dims, shape.atom_columns);
  text += "; bonds=" + dims_text(shape.bond_dims, shape.bond_columns);
  text += standardize == Standardize::none ? "; hydrogens=folded; fragments=kept; pairs=shortest-path"
                                           : "; hydrogens=folded; fragments=parent; pairs=shortest-path";
  if (descriptors == DescriptorSet::rdkit) text += kRdkitDescriptors;
  return text;
}

std::string FeaturizerOptions::hash() const {
  const std::string text = canonical_text();
  XXH64_hash_t value = XXH3_64bits(text.data(), text.size());
  std::string digits(16, '0');
  for (std::size_t place = digits.size(); place-- > 0; value >>= 4) digits[place] = "0123456789abcdef"[value & 15u];
  return digits;
}

FeaturizerOptions FeaturizerOptions::from_canonical_text(const std::string& text) {
  for (const Features known : kFeatureSets)
    for (const DescriptorSet descriptors : {DescriptorSet::none, DescriptorSet::rdkit})
      for (const Standardize standardize : {Standardize::none, Standardize::parent}) {
        const FeaturizerOptions options{known, descriptors, standardize};
        if (options.canonical_text() == text) return options;
      }
  throw FileError("this version cannot read the featuriser '" + text.substr(0, 200) + "'; expected '" +
                  FeaturizerOptions{}.canonical_text() + "' or the same for zinc or molgraph");
}

}  // namespace molgraph
