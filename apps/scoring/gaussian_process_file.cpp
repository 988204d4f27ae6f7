#include "apps/scoring/gaussian_process_file.hpp"

#include <stdexcept>

#include "apps/scoring/partner_file.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {
namespace {

constexpr const char* kProcessKey = "molgraph.gaussian_process";
constexpr int kProcessVersion = 1;

}  // namespace

void write_process(const std::string& path, const GaussianProcess& process, const FeaturizerOptions& featurizer) {
  if (const std::string why = process_problem(process); !why.empty())
    throw std::logic_error("cannot write an invalid Gaussian process: " + why);
  const KernelMolecules& m = process.molecules;
  const std::vector<std::int32_t> column(m.column.begin(), m.column.end());
  const std::vector<double> clip{process.scaling.clip};
  write_partner(path, kProcessKey,
                {{"version", kProcessVersion},
                 {"fingerprint", "count-Morgan, radius 2, " + std::to_string(kFingerprintBins) + " counts"},
                 {"descriptors", process.descriptors},
                 {"columns", process.columns},
                 {"targets", targets_json(process.targets)}},
                process.targets, featurizer,
                {array_view("count_offset", m.count_offset), array_view("column", column), array_view("count", m.count),
                 array_view("numbers", m.numbers), array_view("center", process.scaling.center),
                 array_view("scale", process.scaling.scale), array_view("clip", clip),
                 array_view("fingerprint_share", process.fingerprint_share), array_view("noise", process.noise),
                 array_view("mean", process.mean), array_view("coefficient", process.coefficient)});
}

GaussianProcess read_process(const std::string& path, const Task& task, const FeaturizerOptions& featurizer) {
  const PartnerFile file(path, "Gaussian process", kProcessKey, featurizer);
  file.check_version(kProcessVersion, kProcessVersion);
  GaussianProcess process;
  process.descriptors = file.get<std::vector<std::string>>("descriptors");
  process.columns = file.get<std::vector<std::string>>("columns");
  process.targets = file.targets(task);
  file.read_shares(process.targets);
  KernelMolecules& m = process.molecules;
  m.count_offset = file.array<std::int64_t>("count_offset");
  for (const std::int32_t column : file.array<std::int32_t>("column")) {
    if (column < 0) file.throw_damaged("a count for a negative column");
    m.column.push_back(static_cast<std::uint32_t>(column));
  }
  m.count = file.array<float>("count");
  m.numbers = file.array<float>("numbers");
  const auto clip = file.array<double>("clip");
  if (clip.size() != 1) file.throw_damaged("clip is not a single number");
  process.scaling = {file.array<double>("center"), file.array<double>("scale"), clip.front()};
  process.fingerprint_share = file.array<double>("fingerprint_share");
  process.noise = file.array<double>("noise");
  process.mean = file.array<double>("mean");
  process.coefficient = file.array<double>("coefficient");
  if (const std::string why = process_problem(process); !why.empty()) file.throw_damaged(why);
  return process;
}

}  // namespace molgraph
