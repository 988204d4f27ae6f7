#include "apps/scoring/predictor.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "datasets/system/threads.hpp"
#include "featurize/graph/error.hpp"
#include "python/bindings/arrays.hpp"
#include "python/bindings/interruptible.hpp"
#include "python/bindings/module.hpp"

namespace molgraph::python {
namespace {

constexpr std::size_t kMaxRows = 512, kMinRows = 16;  // rows of a window, which one thread computes
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Texts = std::vector<std::string>;
using Columns = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Options of the predictor, from values as in the programs' flags.
PredictorOptions options_of(const std::string& precision, int gpu, int max_atoms, bool calibrate, double interval,
                            bool domain, const std::string& explain) {
  // 1 thread per window: windows are distributed over the threads.
  return {.threads = 1,
          .limits = {.max_atoms = max_atoms},
          .precision = precision_from_string(precision),
          .device = gpu < 0 ? Device{} : Device::gpu(gpu),
          .calibrate = calibrate,
          .interval = interval,
          .domain = domain,
          .explain = explain == "atoms"       ? ExplainMethod::atoms
                     : explain == "fragments" ? ExplainMethod::fragments
                     : explain == "rollout"   ? ExplainMethod::rollout
                                              : ExplainMethod::none};
}

/// Status and reason of each row.
struct Statuses {
  std::vector<std::uint8_t> status;
  Texts reason;
  explicit Statuses(std::size_t rows) : status(rows), reason(rows) {}
  template <class Result>
  void set(std::size_t row, Result& result) {
    status[row] = static_cast<std::uint8_t>(result.status);
    reason[row] = std::move(result.reason);
  }
};

/// Calls work(first, texts, columns) for windows of at most `most` rows, distributed over the threads, without the GIL.
template <class Work>
void for_each_window(const Texts& texts, std::span<const float> columns, int threads, const Work& work,
                     std::size_t most = kMaxRows) {
  const std::size_t rows = texts.size(), measured = rows == 0 ? 0 : columns.size() / rows;
  const auto workers = static_cast<std::size_t>(thread_count(threads));
  const std::size_t window = std::clamp((rows + 4 * workers - 1) / (4 * workers), std::min(kMinRows, most), most);
  const auto run_window = [&](std::size_t first) {
    const std::size_t count = std::min(window, rows - first);
    work(first, std::span(texts).subspan(first, count), columns.subspan(first * measured, count * measured));
  };
  if (rows <= window) {
    const nb::gil_scoped_release free;
    if (rows > 0) run_window(0);
    return;
  }
  interruptible([&](const std::atomic<bool>& stopped) {
    parallel_for(static_cast<std::int64_t>((rows + window - 1) / window), 1, threads,
                 [&](std::int64_t begin, std::int64_t) {
                   if (!stopped) run_window(static_cast<std::size_t>(begin) * window);
                 });
  });
}

/// The class behind molgraph.Predictor.
class CorePredictor {
 public:
  CorePredictor(const Texts& runs, int threads, const PredictorOptions& options)
      : predictor_(runs, options), threads_(threads), interval_(options.interval), has_domain_(options.domain) {}

  /// Returns a dictionary of arrays: values [n, outputs], status [n], and further requested results.
  nb::dict predict(const Texts& texts, const std::optional<Columns>& measured, std::optional<double> interval) const {
    const double level = interval.value_or(interval_);
    predictor_.predict({}, {}, level);  // checks the level, also if there are no rows
    const std::size_t rows = texts.size(), outputs = width();
    const std::size_t spread = predictor_.num_runs() > 1 ? rows * outputs : 0, bounds = level > 0 ? rows * outputs : 0;
    std::vector<double> values(rows * outputs), deviation(spread, kNaN), low(bounds, kNaN), high(bounds, kNaN);
    std::vector<double> similarity(has_domain_ ? rows : 0, kNaN), percentile(similarity);
    std::vector<std::uint8_t> elements(similarity.size()), rings(similarity.size());
    std::vector<std::int64_t> nearest(similarity.size(), -1);
    Statuses statuses(rows);
    const auto copy_row = [&](const std::vector<double>& from, std::vector<double>& to, std::size_t row) {
      if (!from.empty() && !to.empty())
        std::ranges::copy(from, to.begin() + static_cast<std::ptrdiff_t>(row * outputs));
    };
    for_each_window(texts, span_of(measured, rows), threads_, [&](std::size_t first, auto window, auto columns) {
      std::vector<Prediction> predictions = predictor_.predict(window, columns, level);
      for (std::size_t i = 0; i < predictions.size(); ++i) {
        Prediction& one = predictions[i];
        const std::size_t row = first + i;
        statuses.set(row, one);
        copy_row(one.values, values, row);
        copy_row(one.deviation, deviation, row);
        copy_row(one.low, low, row);
        copy_row(one.high, high, row);
        if (!one.domain) continue;
        similarity[row] = one.domain->similarity;
        percentile[row] = one.domain->percentile;
        nearest[row] = static_cast<std::int64_t>(one.domain->nearest);
        elements[row] = one.domain->elements_seen;
        rings[row] = one.domain->rings_seen;
      }
    });
    nb::dict all;
    all["values"] = array_of(std::move(values), {rows, outputs});
    all["status"] = array_of(std::move(statuses.status), {rows});
    all["reason"] = std::move(statuses.reason);
    if (spread > 0) all["std"] = array_of(std::move(deviation), {rows, outputs});
    if (level > 0) {
      all["low"] = array_of(std::move(low), {rows, outputs});
      all["high"] = array_of(std::move(high), {rows, outputs});
    }
    if (has_domain_) {
      all["similarity"] = array_of(std::move(similarity), {rows});
      all["percentile"] = array_of(std::move(percentile), {rows});
      all["nearest"] = array_of(std::move(nearest), {rows});
      all["elements_seen"] = array_of(std::move(elements), {rows});
      all["rings_seen"] = array_of(std::move(rings), {rows});
    }
    return all;
  }

  /// Returns values [n, layers * C] and status [n].
  nb::dict embed(const Texts& texts, const std::string& pooling, const std::vector<int>& layers, bool l2) const {
    const EmbeddingOptions options{.pooling = pooling_from_string(pooling), .layers = layers, .l2 = l2};
    const std::size_t rows = texts.size(), width = static_cast<std::size_t>(predictor_.embedding_width(options));
    std::vector<float> values(rows * width);
    Statuses statuses(rows);
    for_each_window(texts, {}, threads_, [&](std::size_t first, auto window, auto) {
      std::vector<Embedding> embeddings = predictor_.embed(window, options);
      for (std::size_t i = 0; i < embeddings.size(); ++i) {
        statuses.set(first + i, embeddings[i]);
        std::ranges::copy(embeddings[i].values, values.begin() + static_cast<std::ptrdiff_t>((first + i) * width));
      }
    });
    nb::dict all;
    all["values"] = array_of(std::move(values), {rows, width});
    all["status"] = array_of(std::move(statuses.status), {rows});
    all["reason"] = std::move(statuses.reason);
    return all;
  }

  /// Returns atoms [atoms of all rows, targets] (rollout: [atoms, 1]; fragments: the contribution of the atom's
  /// fragment, with its number in fragment [atoms of all rows]) with the row's first atom in offset [n + 1], and
  /// baseline, descriptors, blend, prediction, error and complete [n, targets], NaN or 0 for rows that are not ok.
  nb::dict explain(const Texts& texts, const std::optional<Columns>& measured) const {
    const std::size_t rows = texts.size(), targets = predictor_.task().names.size();
    std::vector<Explanation> all(rows);
    for_each_window(
        texts, span_of(measured, rows), threads_,
        [&](std::size_t first, auto window, auto columns) {
          std::ranges::move(predictor_.explain(window, columns), all.begin() + static_cast<std::ptrdiff_t>(first));
        },
        1);
    Statuses statuses(rows);
    std::vector<std::uint8_t> complete(rows * targets);
    std::vector<std::int64_t> offset{0};
    std::vector<double> atoms, rollout, sums[5];
    std::vector<std::int64_t> fragment;
    for (auto& sum : sums) sum.assign(rows * targets, kNaN);
    for (std::size_t row = 0; row < rows; ++row) {
      Explanation& one = all[row];
      statuses.set(row, one);
      fragment.insert(fragment.end(), one.fragment.begin(), one.fragment.end());
      for (TargetExplanation& target : one.targets)
        for (const int f : one.fragment) target.atoms.push_back(target.fragments[static_cast<std::size_t>(f)]);
      const std::size_t count = one.targets.empty() ? one.rollout.size() : one.targets[0].atoms.size();
      for (std::size_t atom = 0; atom < count; ++atom)
        for (const TargetExplanation& target : one.targets) atoms.push_back(target.atoms[atom]);
      rollout.insert(rollout.end(), one.rollout.begin(), one.rollout.end());
      offset.push_back(offset.back() + static_cast<std::int64_t>(count));
      for (std::size_t t = 0; t < one.targets.size(); ++t) {
        const TargetExplanation& target = one.targets[t];
        const double values[] = {target.prediction, target.baseline, target.descriptors, target.blend, target.error};
        const std::size_t known = one.fragment.empty() ? std::size(sums) : 1;
        for (std::size_t k = 0; k < known; ++k) sums[k][row * targets + t] = values[k];
        complete[row * targets + t] = target.complete;
      }
    }
    nb::dict result;
    const std::size_t width = rollout.empty() ? targets : 1, count = static_cast<std::size_t>(offset.back());
    result["atoms"] = array_of(std::move(rollout.empty() ? atoms : rollout), {count, width});
    const std::size_t in_fragments = fragment.size();
    result["fragment"] = array_of(std::move(fragment), {in_fragments});
    result["offset"] = array_of(std::move(offset), {rows + 1});
    const char* const names[] = {"prediction", "baseline", "descriptors", "blend", "error"};
    for (std::size_t k = 0; k < std::size(sums); ++k) result[names[k]] = array_of(std::move(sums[k]), {rows, targets});
    result["complete"] = array_of(std::move(complete), {rows, targets});
    result["status"] = array_of(std::move(statuses.status), {rows});
    result["reason"] = std::move(statuses.reason);
    return result;
  }

  nb::dict task() const {
    const Task& task = predictor_.task();
    Texts kinds;
    nb::list logarithmic;
    for (std::size_t t = 0; t < task.names.size(); ++t) {
      kinds.emplace_back(to_string(task.kind_of(t)));
      logarithmic.append(task.is_logarithmic(t));
    }
    nb::dict all;
    all["kind"] = std::string(to_string(task.kind));
    all["names"] = task.names;
    all["units"] = task.units;
    all["kinds"] = kinds;
    all["logarithmic"] = logarithmic;
    all["classes"] = task.classes;
    all["class_labels"] = task.class_labels;
    return all;
  }
  Texts files() const { return predictor_.files(); }
  Texts input_columns() const { return {predictor_.input_columns().begin(), predictor_.input_columns().end()}; }
  std::size_t num_runs() const { return predictor_.num_runs(); }
  std::pair<std::string, std::string> precision() const {
    return {to_string(predictor_.precision().precision), predictor_.precision().note};
  }
  /// Returns ids, SMILES and values [molecules, targets] of the training molecules; None if the run does not contain
  /// them.
  nb::object training_molecules() const {
    const DomainLabels* labels = predictor_.domain_labels();
    if (labels == nullptr) return nb::none();
    nb::dict all;
    all["ids"] = labels->ids;
    all["smiles"] = labels->smiles;
    all["values"] = array_of(labels->values, {labels->ids.size(), predictor_.task().names.size()});
    return all;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(predictor_.task().num_outputs()); }

  std::span<const float> span_of(const std::optional<Columns>& measured, std::size_t rows) const {
    if (!measured) return {};
    const std::size_t expected = predictor_.input_columns().size();
    if (measured->shape(0) != rows || measured->shape(1) != expected)
      throw UsageError("columns: " + std::to_string(measured->shape(0)) + " x " + std::to_string(measured->shape(1)) +
                       " numbers, but the model needs " + std::to_string(rows) + " x " + std::to_string(expected));
    return {measured->data(), rows * expected};
  }

  Predictor predictor_;
  int threads_;
  double interval_;
  bool has_domain_;
};

Texts status_words() {
  Texts words;
  for (int k = 0; k <= static_cast<int>(RowStatus::invalid_input); ++k)
    words.emplace_back(to_string(static_cast<RowStatus>(k)));
  return words;
}

}  // namespace

void bind_predictor(nb::module_& module) {
  module.attr("STATUS_WORDS") = status_words();
  nb::class_<CorePredictor>(module, "Predictor")
      .def(
          "__init__",
          [](CorePredictor* self, const Texts& runs, int threads, const std::string& precision, int gpu, int max_atoms,
             bool calibrate, double interval, bool domain, const std::string& explain) {
            const nb::gil_scoped_release free;
            new (self) CorePredictor(runs, threads,
                                     options_of(precision, gpu, max_atoms, calibrate, interval, domain, explain));
          },
          nb::kw_only(), nb::arg("runs"), nb::arg("threads"), nb::arg("precision"), nb::arg("gpu"),
          nb::arg("max_atoms"), nb::arg("calibrate"), nb::arg("interval"), nb::arg("domain"), nb::arg("explain"))
      .def("explain", &CorePredictor::explain, nb::arg("smiles"), nb::arg("columns").none() = nb::none())
      .def("predict", &CorePredictor::predict, nb::arg("smiles"), nb::arg("columns").none() = nb::none(),
           nb::arg("interval").none() = nb::none())
      .def("embed", &CorePredictor::embed, nb::arg("smiles"), nb::arg("pooling"), nb::arg("layers"), nb::arg("l2"))
      .def_prop_ro("task", &CorePredictor::task)
      .def_prop_ro("files", &CorePredictor::files)
      .def_prop_ro("input_columns", &CorePredictor::input_columns)
      .def_prop_ro("num_runs", &CorePredictor::num_runs)
      .def_prop_ro("precision", &CorePredictor::precision)
      .def("training_molecules", &CorePredictor::training_molecules);
}

}  // namespace molgraph::python
