#include "apps/report/cautions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/report/judged_errors.hpp"
#include "apps/report/page_sections.hpp"
#include "datasets/system/readable.hpp"
#include "datasets/system/text.hpp"

namespace molgraph {
namespace {

constexpr std::int64_t kFewLabels = 50;             ///< with fewer, metrics are imprecise
constexpr double kFar = 0.4, kGrowth = 1.25;        ///< errors below the similarity kFar are larger by this factor
constexpr double kMaxRejected = 0.05;               ///< of the rows
constexpr double kLevel = 0.9, kMinCovered = 0.88;  ///< of the intervals
constexpr std::size_t kNamesShown = 3;

/// The mean error of the molecules in a range of similarities, and its standard error.
struct MeanError {
  double sum = 0, labels = 0, variance = 0;
  void add(const SimilarityBin& bin) {
    if (bin.molecules < 2) return;  // its standard error is unknown
    const auto count = static_cast<double>(bin.labels);
    sum += bin.mean.value * count, labels += count;
    variance += std::pow((bin.mean.high - bin.mean.value) / kNormal95 * count, 2);
  }
  double mean() const { return sum / labels; }
  double error() const { return std::sqrt(variance) / labels; }
};

class Checks {
 public:
  explicit Checks(const ReportFacts& facts)
      : facts_(facts), set_(std::string(kSetNames[facts.judged_part()]) + " set") {
    if (!facts.methods.empty())
      if (const auto& part = facts.methods.front().parts[facts.judged_part()]) own_ = &*part;
  }

  std::vector<Caution> all() {
    few_labels();
    no_test_set();
    undefined_metric();
    better_method();
    useless_targets();
    shared_molecules();
    suspicious_labels();
    rejected_rows();
    random_split();
    errors_by_similarity();
    coverage();
    return std::move(found_);
  }

 private:
  void add(const char* section, std::string text) { found_.push_back({std::move(text), section}); }

  std::size_t targets() const { return facts_.task.names.size(); }

  std::string of_targets(std::size_t count) const {
    return with_thousands(static_cast<std::int64_t>(count)) + " of " +
           with_thousands(static_cast<std::int64_t>(targets())) + " targets";
  }

  void few_labels() {
    if (own_ == nullptr || own_->labels.empty()) return;
    const std::int64_t labels = *std::ranges::max_element(own_->labels);
    if (labels >= kFewLabels) return;
    add("results", targets() == 1 ? "The " + set_ + " has only " + counted(labels, "label", "labels") +
                                        ", so the metrics are imprecise."
                                  : "No target has more than " + counted(labels, "label", "labels") + " in the " +
                                        set_ + ", so the metrics are imprecise.");
  }

  void no_test_set() {
    if (&facts_.judged() != &facts_.valid) return;
    const bool chosen_alike = facts_.valid.in_train.empty();
    add("results",
        std::string(facts_.test.size() > 0 ? "The test set has no exact labels. " : "There is no test set. ") +
            (chosen_alike ? "The metrics are those of the validation set, on which the best epoch was "
                            "chosen"
                          : "The metrics are those of predictions for molecules that the predicting models "
                            "were not trained on, but on which their best epochs were chosen") +
            ", so they are usually better than on new molecules." +
            (facts_.run && facts_.run->refit ? " They are those of the model before it was also trained on "
                                               "the validation set."
                                             : ""));
  }

  void undefined_metric() {
    if (own_ == nullptr) return;
    for (const TaskKind kind : {TaskKind::regression, TaskKind::binary, TaskKind::multiclass}) {
      const Measure measure = leading_measure(facts_, kind);
      std::size_t count = 0;
      for (std::size_t t = 0; t < own_->targets.size(); ++t)
        count +=
            facts_.task.kind_of(t) == kind && std::isnan(own_->targets[t][static_cast<std::size_t>(measure)].value);
      if (count > 0)
        add("results", std::string(title_of(measure)) + " on the " + set_ + " is undefined" +
                           (targets() > 1 ? " for " + of_targets(count) : "") +
                           ". Possible causes: labels that are missing, too few or all equal, and predictions that are "
                           "not numbers.");
    }
  }

  void better_method() {
    if (own_ == nullptr) return;
    const Measure measure = leading_measure(facts_);
    const double own = own_->value_of(measure).value;
    std::string best;
    double best_value = own;
    for (const auto& [name, value] : other_methods(facts_, measure)) {
      if (name.starts_with("transformer")) continue;  // a member of the blend
      if (larger_is_better(measure) ? value >= best_value : value <= best_value) best = name, best_value = value;
    }
    if (!best.empty())
      add("results", "On the " + set_ + ", a simpler method is as good or better: " + best + ", " +
                         std::string(title_of(measure)) + " " + sensible_number(best_value) + " (this run " +
                         sensible_number(own) + ").");
  }

  /// Targets whose R2 or ROC-AUC is not clearly above that of a constant prediction.
  void useless_targets() {
    if (own_ == nullptr) return;
    for (const TaskKind kind : {TaskKind::regression, TaskKind::binary}) {
      const Measure measure = kind == TaskKind::regression ? Measure::r2 : Measure::roc_auc;
      const double limit = kind == TaskKind::regression ? 0 : 0.5;
      std::vector<std::string> names;
      for (std::size_t t = 0; t < own_->targets.size(); ++t) {
        const Estimate& estimate = own_->targets[t][static_cast<std::size_t>(measure)];
        if (facts_.task.kind_of(t) == kind && (std::isfinite(estimate.low) ? estimate.low : estimate.value) <= limit)
          names.push_back(cut_short(facts_.task.names[t], 60));
      }
      if (names.empty()) continue;
      const std::string what = std::string(title_of(measure)) + " on the " + set_ + " is not clearly above " +
                               (kind == TaskKind::regression ? "0" : "0.5");
      add("results", targets() == 1 ? what + ". The predictions may be no better than a constant."
                                    : what + " for " + of_targets(names.size()) +
                                          ". Their predictions may be no better than a constant: " +
                                          list_of(names, kNamesShown) + ".");
    }
  }

  void shared_molecules() {
    if (own_ != nullptr && facts_.shared.value_or(0) > 0)
      add("data", counted(*facts_.shared, "molecule occurs", "molecules occur") + " in two sets of " +
                      (facts_.folds ? "a fold" : "the split") +
                      ", so the metrics can be better than on new molecules.");
  }

  void suspicious_labels() {
    if (!facts_.run || facts_.run->suspicious_labels.empty()) return;
    add("data", counted(std::ssize(facts_.run->suspicious_labels), "label is an outlier", "labels are outliers") +
                    " and may be wrong.");
  }

  void rejected_rows() {
    if (!facts_.run) return;
    const std::int64_t rejected = facts_.run->rejected;
    if (static_cast<double>(rejected) > kMaxRejected * static_cast<double>(rejected + facts_.run->molecules))
      add("data", counted(rejected, "row was", "rows were") + " rejected, next to " +
                      counted(facts_.run->molecules, "molecule", "molecules") + " in use.");
  }

  void random_split() {
    if (!facts_.run || (facts_.run->split != "random" && !facts_.run->split.starts_with("random folds"))) return;
    std::vector<double> similarity = facts_.judged().similarity;
    std::erase_if(similarity, [](double value) { return !std::isfinite(value); });
    std::ranges::sort(similarity);
    add("similarity",
        "The split is random" +
            (similarity.empty() ? ""
                                : ": half of the molecules of the " + set_ + " have a similarity of at least " +
                                      text("%.2f", percentile(similarity, 0.5)) + " to a training molecule") +
            ". Expect larger errors for molecules of a new series.");
  }

  void errors_by_similarity() {
    const bool regression = facts_.task.has(TaskKind::regression);
    MeanError far, near;
    for (const SimilarityBin& bin : similarity_bins(facts_, regression)) (bin.low < kFar - 1e-9 ? far : near).add(bin);
    if (far.labels == 0 || near.labels == 0 || far.mean() <= kGrowth * near.mean() ||
        far.mean() - near.mean() <= kNormal95 * std::hypot(far.error(), near.error()))
      return;
    const std::string unit = !regression     ? "1 - probability of the label"
                             : targets() > 1 ? "standard deviations of the labels"
                                             : facts_.task.model_unit(0);
    add("similarity", "Errors are larger away from the training set: the mean error is " + sensible_number(far.mean()) +
                          " for molecules with a similarity below " + text("%.1f", kFar) + " and " +
                          sensible_number(near.mean()) + " for the others" + (unit.empty() ? "" : " (" + unit + ")") +
                          ".");
  }

  void coverage() {
    std::int64_t low = 0, count = 0;
    const Coverage* lowest = nullptr;
    for (const Coverage& one : facts_.coverage) {
      if (std::abs(one.level - kLevel) > 1e-9) continue;
      ++count;
      if (one.covered > kMinCovered || wilson(one.hits, one.labels).high >= kLevel) continue;
      ++low;
      if (lowest == nullptr || one.covered < lowest->covered) lowest = &one;
    }
    if (lowest == nullptr) return;
    const std::string share = text("%.0f %%", 100 * lowest->covered) + " of the test labels";
    add("coverage", targets() == 1 ? "The 90 % intervals contain only " + share + "."
                                   : "The 90 % intervals of " + with_thousands(low) + " of the " +
                                         counted(count, "target", "targets") +
                                         " with intervals contain too few test labels. Those of " +
                                         cut_short(facts_.task.names[lowest->target], 60) + " contain " + share + ".");
  }

  const ReportFacts& facts_;
  std::string set_;                ///< "test set"
  const Measured* own_ = nullptr;  ///< of the run on the evaluation set
  std::vector<Caution> found_;
};

}  // namespace

std::vector<Caution> cautions(const ReportFacts& facts) { return Checks(facts).all(); }

}  // namespace molgraph
