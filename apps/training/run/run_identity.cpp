#include "apps/training/run/run_identity.hpp"

#include "apps/training/loop/checkpoint.hpp"
#include "datasets/store/content_hash.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {

std::string identity_of(const TrainOptions& options, const LoadedData& data, const Split& split) {
  const std::uint64_t contents = data.auxiliary.empty()
                                     ? content_hash(data.set, split)
                                     : content_hash(with_auxiliary(data.set, data.auxiliary, split.train), split);
  return to_identity(options) + "# molecules " + std::to_string(data.set.size()) + ", training " +
         std::to_string(split.train.size()) + ", source " + data.set.source.sha256 + ", featuriser " +
         data.set.featurizer.hash() + list_of(data.set.task.logarithmic_names(), kMaxTargets) + kContentsLine +
         std::to_string(contents);
}

}  // namespace molgraph
