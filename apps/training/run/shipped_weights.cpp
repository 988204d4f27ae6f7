#include "apps/training/run/shipped_weights.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "apps/training/run/quality.hpp"
#include "featurize/descriptors/descriptors.hpp"

namespace molgraph {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "grpe-small.safetensors";

/// Smallest number of descriptors, if a model has no other targets, that counts as pre-training.
constexpr std::ptrdiff_t kFewestDescriptors = 20;

/// Model options that affect training, not the architecture.
constexpr std::array<std::string_view, 7> kOfTraining{
    "mix-width", "dropout", "attention-dropout", "perturb-noise", "flag", "from", "freeze"};

/// True if the model has the default architecture.
bool has_default_model(TrainOptions options) {
  TrainOptions unset;
  const auto all = list_options(options), defaults = list_options(unset);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool counts = std::string_view(all[k].group) == "Model" && std::ranges::count(kOfTraining, all[k].key()) == 0;
    if (counts && all[k].field.get() != defaults[k].field.get()) return false;
  }
  return true;
}

}  // namespace

bool is_path(const std::string& from) { return !from.empty() && from != kFromNothing && from != kFromShipped; }

std::string shipped_weights() {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("MOLGRAPH_PRETRAINED")) folders.emplace_back(named);
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    folders.push_back(program.parent_path().parent_path() / "share/molgraph/pretrained");
  folders.emplace_back(MOLGRAPH_PRETRAINED_SOURCE);
  for (const fs::path& folder : folders)
    if (fs::is_regular_file(folder / kFile, error)) return (folder / kFile).string();
  return {};
}

bool may_start_from_shipped(const TrainOptions& options) {
  return options.model.from.empty() && is_own_table(options) && options.training.quality != Quality::fast &&
         options.data.target_descriptors == DescriptorSet::none && options.model.recipe.empty() &&
         has_default_model(options) && options.data.features.value_or(Features::molgraph) == Features::molgraph &&
         !shipped_weights().empty();
}

std::string automatic_start(const TrainOptions& options, const LoadedData& data) {
  const bool fits =
      may_start_from_shipped(options) && data.set.featurizer.features == Features::molgraph && !data.training.computed;
  return fits ? kFromShipped : "";
}

bool is_pretrained(const ModelConfig& config) {
  const auto known = descriptor_names();
  const auto learned = std::ranges::count_if(
      config.task.names, [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); });
  // A user's targets may include a few descriptors. A corpus of similar molecules has fewer that are not constant.
  return learned > std::ssize(known) / 2 || (learned >= kFewestDescriptors && learned == std::ssize(config.task.names));
}

}  // namespace molgraph
