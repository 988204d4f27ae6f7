#include "apps/scoring/partner_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "apps/scoring/model_file.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

PartnerJson targets_json(const std::vector<BlendTarget>& targets) {
  PartnerJson all = PartnerJson::array();
  for (const BlendTarget& t : targets)
    all.push_back({{"name", t.name}, {"kind", to_string(t.kind)}, {"classes", t.classes}});
  return all;
}

void write_partner(const std::string& path, const char* key, const PartnerJson& about,
                   const std::vector<BlendTarget>& targets, const FeaturizerOptions& featurizer,
                   std::vector<TensorView> arrays) {
  std::vector<double> shares;
  for (const BlendTarget& target : targets) shares.push_back(target.share);
  arrays.push_back(array_view("share", shares));
  write_safetensors(
      path,
      {{key, about.dump(-1, ' ', false, PartnerJson::error_handler_t::replace)}, {kFeaturizerKey, featurizer.hash()}},
      arrays);
}

PartnerFile::PartnerFile(std::string path, std::string what, const char* key, const FeaturizerOptions& featurizer)
    : path_(std::move(path)), what_(std::move(what)), file_(read_safetensors(path_)) {
  const auto found = file_.metadata.find(key), hash = file_.metadata.find(kFeaturizerKey);
  if (found == file_.metadata.end() || hash == file_.metadata.end()) throw FileError(path_ + ": contains no " + what_);
  if (hash->second != featurizer.hash())
    throw FileError(path_ + ": " + what_ + " created with another featuriser than the model's");
  try {
    about_ = PartnerJson::parse(found->second);
  } catch (const nlohmann::json::exception& problem) {
    throw_damaged(problem.what());
  }
}

int PartnerFile::check_version(int oldest, int newest) const {
  const auto version = get<int>("version");
  if (version < oldest || version > newest)
    throw FileError(path_ + ": has version " + std::to_string(version) + "; this program reads version" +
                    (oldest < newest ? "s " + std::to_string(oldest) + " to " : " ") + std::to_string(newest));
  return version;
}

std::vector<BlendTarget> PartnerFile::targets(const Task& task) const {
  std::vector<BlendTarget> targets;
  try {
    for (const PartnerJson& t : about_.at("targets"))
      targets.push_back({.name = t.at("name").get<std::string>(),
                         .kind = task_kind_from_string(t.at("kind").get<std::string>()),
                         .classes = t.at("classes").get<int>()});
  } catch (const nlohmann::json::exception& problem) {
    throw_damaged(problem.what());
  } catch (const UsageError& problem) {
    throw_damaged(problem.what());
  }
  const std::vector<BlendTarget> expected = blend_targets(task);
  const bool same = std::ranges::equal(targets, expected, [](const BlendTarget& a, const BlendTarget& b) {
    return a.name == b.name && a.kind == b.kind && a.classes == b.classes;
  });
  if (!same) throw FileError(path_ + ": " + what_ + " with other targets than the model's");
  return targets;
}

void PartnerFile::read_shares(std::vector<BlendTarget>& targets) const {
  const auto shares = array<double>("share");
  if (shares.size() != targets.size()) throw_damaged("not one share per target");
  for (std::size_t t = 0; t < shares.size(); ++t) targets[t].share = shares[t];
}

void PartnerFile::throw_damaged(const std::string& why) const {
  throw FileError(path_ + ": damaged " + what_ + ": " + why);
}

const StoredTensor& PartnerFile::find(const std::string& name, DType dtype) const {
  const auto found = file_.tensors.find(name);
  if (found == file_.tensors.end()) throw_damaged("missing array " + name);
  if (found->second.dtype != dtype || found->second.shape.size() != 1)
    throw_damaged(name + " has the wrong type or shape");
  return found->second;
}

void PartnerFile::copy(const StoredTensor& tensor, void* to) {
  if (!tensor.bytes.empty()) std::memcpy(to, tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace molgraph
