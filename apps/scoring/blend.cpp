#include "apps/scoring/blend.hpp"

#include <algorithm>

namespace molgraph {

std::vector<BlendTarget> blend_targets(const Task& task) {
  std::vector<BlendTarget> targets;
  for (std::size_t t = 0; t < task.names.size(); ++t)
    targets.push_back({.name = task.names[t],
                       .kind = task.kind_of(t),
                       .classes = task.kind == TaskKind::multiclass ? task.classes : 1});
  return targets;
}

std::size_t outputs_of(std::span<const BlendTarget> targets) {
  std::size_t outputs = 0;
  for (const BlendTarget& target : targets) outputs += static_cast<std::size_t>(target.classes);
  return outputs;
}

void blend_predictions(std::span<const PartnerPrediction> partners, double* values) {
  if (partners.empty()) return;
  std::size_t first = 0;
  for (std::size_t t = 0; t < partners.front().targets.size(); ++t) {
    const auto classes = static_cast<std::size_t>(partners.front().targets[t].classes);
    for (std::size_t o = first; o < first + classes; ++o) {
      double model_share = 1, partner_sum = 0;
      for (const PartnerPrediction& partner : partners) {
        const double share = partner.targets[t].share;
        model_share -= share;
        partner_sum += share * partner.values[o];
      }
      values[o] = model_share * values[o] + partner_sum;
    }
    first += classes;
  }
}

double limited_probability(double value, double frequency) {
  const auto lowest = [](double share) { return std::clamp(0.1 * share, 1e-6, 0.01); };
  return std::clamp(value, lowest(frequency), 1 - lowest(1 - frequency));
}

std::string targets_problem(std::span<const BlendTarget> targets) {
  for (const BlendTarget& target : targets) {
    if (target.classes < 1 || (target.kind != TaskKind::multiclass && target.classes != 1))
      return target.name + " has " + std::to_string(target.classes) + " outputs";
    if (!(target.share >= 0 && target.share <= 1)) return target.name + " has a share outside the range 0 to 1";
  }
  return {};
}

}  // namespace molgraph
