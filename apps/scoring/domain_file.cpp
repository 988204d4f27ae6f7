#include "apps/scoring/domain_file.hpp"

#include <cstring>
#include <filesystem>
#include <utility>

#include "apps/scoring/model_file.hpp"
#include "apps/scoring/partner_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDomainKey = "molgraph.domain";
constexpr int kDomainVersion = 1;
constexpr std::size_t kBitBytes = sizeof(FingerprintBits);

template <class To, class From>
std::vector<To> same_bytes(const std::vector<From>& from) {
  static_assert(std::is_trivially_copyable_v<To> && std::is_trivially_copyable_v<From>);
  std::vector<To> to(from.size() * sizeof(From) / sizeof(To));
  if (!to.empty()) std::memcpy(to.data(), from.data(), to.size() * sizeof(To));
  return to;
}

/// Concatenated texts with the end offset of each.
struct JoinedTexts {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> end;

  explicit JoinedTexts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      bytes.insert(bytes.end(), text.begin(), text.end());
      end.push_back(static_cast<std::int64_t>(bytes.size()));
    }
  }
};

std::vector<std::string> texts_of(const PartnerFile& file, const std::string& name) {
  const auto bytes = file.array<std::uint8_t>(name + "_bytes");
  const auto end = file.array<std::int64_t>(name + "_end");
  std::vector<std::string> texts;
  std::int64_t begin = 0;
  for (const std::int64_t one : end) {
    if (one < begin || one > static_cast<std::int64_t>(bytes.size()))
      file.throw_damaged(name + "_end has an invalid offset");
    texts.emplace_back(bytes.begin() + begin, bytes.begin() + one);
    begin = one;
  }
  return texts;
}

}  // namespace

void write_domain(const std::string& path, const Domain& domain, const FeaturizerOptions& featurizer) {
  const PartnerJson about = {{"version", kDomainVersion},
                             {"molecules", domain.size()},
                             {"labels", domain.labels.has_value()},
                             {"width", domain.space.width},
                             {"fingerprint", "Morgan, radius 2, " + std::to_string(kFingerprintBins) + " bits"}};
  const auto bits = same_bytes<std::uint8_t>(domain.bits);
  const auto embeddings = same_bytes<std::uint8_t>(domain.embeddings);
  const auto rings = same_bytes<std::int64_t>(domain.ring_systems);
  std::vector<TensorView> arrays{array_view("fingerprint", bits),
                                 array_view("embedding", embeddings),
                                 array_view("step", domain.space.step),
                                 array_view("center", domain.space.center),
                                 array_view("projection", domain.space.projection),
                                 array_view("own_distance", domain.own_distances),
                                 array_view("atom_kind", domain.atom_kinds),
                                 array_view("ring_system", rings)};
  const DomainLabels labels = domain.labels.value_or(DomainLabels{});
  const JoinedTexts ids(labels.ids), smiles(labels.smiles);
  if (domain.labels) {
    arrays.insert(arrays.end(), {array_view("id_bytes", ids.bytes), array_view("id_end", ids.end),
                                 array_view("smiles_bytes", smiles.bytes), array_view("smiles_end", smiles.end),
                                 array_view("value", labels.values)});
  }
  write_safetensors(path, {{kDomainKey, about.dump()}, {kFeaturizerKey, featurizer.hash()}}, arrays);
}

Domain read_domain(const std::string& path, const ModelConfig& config) {
  const PartnerFile file(path, "training molecules", kDomainKey, config.featurizer);
  file.check_version(kDomainVersion, kDomainVersion);
  Domain domain;
  domain.space.width = file.get<std::size_t>("width");
  const auto bits = file.array<std::uint8_t>("fingerprint");
  if (bits.size() % kBitBytes != 0) file.throw_damaged("an incomplete fingerprint");
  domain.bits = same_bytes<FingerprintBits>(bits);
  domain.embeddings = same_bytes<std::int8_t>(file.array<std::uint8_t>("embedding"));
  domain.space.step = file.array<float>("step");
  domain.space.center = file.array<float>("center");
  domain.space.projection = file.array<float>("projection");
  domain.own_distances = file.array<float>("own_distance");
  domain.atom_kinds = file.array<std::uint8_t>("atom_kind");
  domain.ring_systems = same_bytes<std::uint64_t>(file.array<std::int64_t>("ring_system"));
  if (file.get<bool>("labels"))
    domain.labels = DomainLabels{texts_of(file, "id"), texts_of(file, "smiles"), file.array<double>("value")};
  const auto width = static_cast<std::size_t>(config.encoder().width);
  if (const std::string why = domain_problem(domain, width, config.task.names.size()); !why.empty())
    file.throw_damaged(why);
  return domain;
}

std::string domain_file_of(const std::string& run) {
  std::error_code error;
  const fs::path path = fs::path(run) / kDomainFile;
  return fs::is_directory(run, error) && fs::exists(path, error) ? path.string() : std::string();
}

std::string domain_file_for(const std::vector<std::string>& runs) {
  if (runs.size() > 1) throw UsageError("the applicability domain requires a single run, but several runs are given");
  std::string file = domain_file_of(runs[0]);
  if (file.empty())
    throw UsageError(runs[0] + " has no applicability domain (domain.safetensors): it was trained without one " +
                     "or on too many molecules, was stripped, or is only part of a run");
  return file;
}

DomainSummary domain_summary(const std::string& path) {
  const SafetensorsFile file = read_safetensors(path);
  try {
    const PartnerJson about = PartnerJson::parse(file.metadata.at(kDomainKey));
    return {about.at("molecules").get<std::int64_t>(), about.at("labels").get<bool>()};
  } catch (const std::exception&) {
    throw FileError(path + ": contains no training molecules");
  }
}

}  // namespace molgraph
