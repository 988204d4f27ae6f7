// A run performs the tasks of its plan in order, and can be resumed after a stop in any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>

#include "apps/training/baselines/booster.hpp"
#include "apps/training/run/run_training.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

using TaskNames = std::vector<std::string>;

TrainRun small_run(const test::Scratch& scratch) {
  TrainRun run;
  run.options.data.paths = {MOLGRAPH_SOURCE_DIR "/tests/data/molecules.csv"};
  run.options.data.target_columns = {"penalized_logp"};
  run.options.model.layers = 1;
  run.options.model.width = 16;
  run.options.model.ffn = 16;
  run.options.model.heads = 2;
  run.options.training.epochs = 2;
  run.options.training.report = false;
  run.folder = scratch.path("R");
  run.threads = 2;
  std::filesystem::create_directory(run.folder);
  return run;
}

/// Records the reports of a run, and stops it during task `stop_in` of the plan.
struct Listener {
  std::vector<PlannedWork> plan;
  TaskNames begun;  ///< tasks that began after the plan was reported
  std::optional<std::size_t> stop_in;
  std::int64_t stop_after = 0;  ///< stops when at least this much of the task is done
  std::atomic<bool> stop{false};
  std::vector<std::string> notes;
  std::vector<double> shares;  ///< reported fractions of the current task
  std::vector<double> first_shares, last_shares;

  void listen(RunControl& control) {
    control.plan = [this](const std::vector<PlannedWork>& tasks) {
      EXPECT_TRUE(plan.empty()) << "the plan is reported twice";
      plan = tasks;
    };
    control.begin = [this](const std::string& what, const std::string&, std::int64_t) {
      shares.clear();
      if (plan.empty()) return;  // reading the table and computing descriptors
      stop = stop_in == begun.size() && stop_after == 0;
      begun.push_back(what);
    };
    control.advance = [this](std::int64_t done, std::int64_t total, const std::string&) {
      shares.push_back(static_cast<double>(done) / static_cast<double>(total));
      if (!plan.empty() && stop_in == begun.size() - 1 && done >= stop_after) stop = true;
    };
    control.end = [this] {
      if (plan.empty()) return;
      EXPECT_TRUE(std::ranges::is_sorted(shares)) << begun.back();
      first_shares.push_back(shares.empty() ? 0 : shares.front());
      last_shares.push_back(shares.empty() ? 0 : shares.back());
    };
    control.stop_signal = [this] { return stop ? SIGTERM : 0; };
    control.note = [this](const std::string& line) { notes.push_back(line); };
  }
  TaskNames planned() const {
    TaskNames names;
    for (const PlannedWork& work : plan) names.push_back(work.what);
    return names;
  }
  std::string note_with(const std::string& part) const {
    for (const std::string& line : notes)
      if (line.find(part) != std::string::npos) return line;
    return "";
  }
};

/// Builds the expected list of tasks. A build without XGBoost has no trees.
class Expected {
 public:
  Expected& training(bool refit = false) {
    tasks_.insert(tasks_.end(), refit ? 2 : 1, kTrainingWork);
    return add({kPredictingWork});
  }
  Expected& baselines() { return add({kNearestWork, kProcessWork, kTreesWork}); }
  Expected& blend() { return add({kTreesWork, kProcessWork}); }
  TaskNames with_domain() { return add({kDomainWork}).tasks_; }
  TaskNames without_domain() const { return tasks_; }

 private:
  Expected& add(const TaskNames& tasks) {
    for (const std::string& work : tasks)
      if (work != kTreesWork || !xgboost_version().empty()) tasks_.push_back(work);
    return *this;
  }
  TaskNames tasks_;
};

class RunPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (rdkit_version().empty()) GTEST_SKIP() << "built without RDKit";
  }
  /// Expects the planned and the performed tasks to be `tasks`. Returns the reports of the run.
  const Listener& expect(const TrainRun& original, const TaskNames& tasks) {
    TrainRun run = original;
    Listener& listener = listener_;
    listener.listen(run.control);
    run_training(run);
    EXPECT_EQ(listener.planned(), tasks);
    EXPECT_EQ(listener.begun, tasks);
    for (const PlannedWork& work : listener.plan) EXPECT_GT(work.seconds, 0) << work.what;
    EXPECT_EQ(listener.last_shares.size(), tasks.size());
    for (std::size_t k = 0; k < tasks.size(); ++k) {
      EXPECT_GE(listener.first_shares[k], 0) << tasks[k];
      if (tasks[k] != kTrainingWork) EXPECT_EQ(listener.last_shares[k], 1) << tasks[k] << " " << k;
      else EXPECT_LE(listener.last_shares[k], 1) << k;
    }
    EXPECT_NE(listener.note_with("The run takes about"), "");
    return listener;
  }

  test::Scratch scratch_;
  Listener listener_;
};

TEST_F(RunPlan, OneModelWithABlend) {
  const Listener& listener = expect(small_run(scratch_), Expected().training().baselines().blend().with_domain());
  EXPECT_EQ(listener.last_shares[0], 1);
  EXPECT_NE(listener.note_with("The run takes about").find("(2 epochs, 4 steps of "), std::string::npos)
      << listener.note_with("The run takes about");
}

TEST_F(RunPlan, TrainingOnly) {
  TrainRun run = small_run(scratch_);
  run.options.training.baselines = Switch::off;
  run.options.training.domain = false;
  run.options.data.split_sizes = {1.0, 0.0, 0.0};
  expect(run, Expected().training().without_domain());
}

TEST_F(RunPlan, BaselinesWithoutABlend) {
  TrainRun run = small_run(scratch_);
  run.options.training.blend = Switch::off;
  run.options.data.target_columns = {"penalized_logp", "nitrogen"};
  expect(run, Expected().training().baselines().with_domain());
}

TEST_F(RunPlan, EnsembleWithRefit) {
  TrainRun run = small_run(scratch_);
  run.options.training.ensemble_size = 2;
  run.options.training.refit = true;
  const Listener& listener = expect(run, Expected().training(true).training(true).baselines().blend().with_domain());
  EXPECT_NE(listener.note_with("4 trainings"), "");
}

TEST_F(RunPlan, MembersWithTheirOwnSplits) {
  TrainRun run = small_run(scratch_);
  run.options.training.ensemble_size = 2;
  run.options.training.member_splits = Switch::on;
  expect(run, Expected().training().training().baselines().baselines().blend().with_domain());
}

TEST_F(RunPlan, InnerFolds) {
  TrainRun run = small_run(scratch_);
  run.options.training.out_of_fold = Switch::on;
  Expected tasks;
  for (int model = 0; model < 6; ++model) tasks.training();
  for (int fold = 0; fold < 5; ++fold) tasks.baselines();
  expect(run, tasks.blend().with_domain());
}

TEST_F(RunPlan, FoldsTrainWholeEpochs) {
  TrainRun run = small_run(scratch_);
  run.options.data.folds = 2;
  run.options.training.epochs.reset();
  run.options.training.steps = 1;
  run.options.training.batch_size = 4;
  const Listener& listener =
      expect(run, Expected().training().baselines().blend().training().baselines().blend().with_domain());
  const std::string line = listener.note_with("The run takes about");
  const std::size_t fold_0 = test::lines_of(scratch_.read("R/model_0/metrics.csv")).size();
  EXPECT_EQ(fold_0, 2u) << "a heading and one epoch";
  std::int64_t steps = 0;
  for (const char* fold : {"R/model_0/metrics.csv", "R/model_1/metrics.csv"})
    steps += std::stoll(test::cells_of(test::lines_of(scratch_.read(fold)).back()).at(1));
  EXPECT_NE(line.find("2 trainings"), std::string::npos) << line;
  EXPECT_NE(line.find(", " + std::to_string(steps) + " steps in total of "), std::string::npos) << line;
}

TEST_F(RunPlan, ResumesAfterAStopInAnyTask) {
  TrainRun whole = small_run(scratch_);
  whole.options.training.ensemble_size = 2;
  run_training(whole);
  const std::string expected = scratch_.read("R/test_predictions.csv");
  const TaskNames tasks = Expected().training().training().baselines().blend().with_domain();
  for (std::size_t k = 0; k < tasks.size(); ++k) {
    TrainRun run = whole;
    run.folder = scratch_.path("stopped" + std::to_string(k));
    std::filesystem::create_directory(run.folder);
    Listener listener;
    listener.stop_in = k;
    listener.listen(run.control);
    EXPECT_THROW(run_training(run), Stopped) << tasks[k];
    EXPECT_EQ(listener.begun, TaskNames(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(k + 1)));

    Listener again;
    again.listen(run.control);
    run.resume = true;
    run_training(run);
    EXPECT_EQ(scratch_.read("stopped" + std::to_string(k) + "/test_predictions.csv"), expected) << tasks[k];
    EXPECT_EQ(again.planned(), tasks);
    EXPECT_EQ(again.plan[0].seconds > 0, k == 0) << "a completed training takes no more time";
    EXPECT_NE(again.note_with("The rest of the run takes about"), "");
  }
}

TEST_F(RunPlan, RemainingStepsAreCountedFromTheCheckpoint) {
  TrainRun run = small_run(scratch_);
  run.options.training.epochs = 4;
  run.options.training.batch_size = 4;  // 9 steps an epoch
  Listener listener;
  listener.stop_in = 0;
  listener.stop_after = 13;
  listener.listen(run.control);
  EXPECT_THROW(run_training(run), Stopped);
  EXPECT_NE(listener.note_with("Stopped after step 14"), "");
  run.resume = true;
  Listener again;
  again.listen(run.control);
  run_training(run);
  EXPECT_NE(again.note_with("The rest of the run takes about").find("22 steps of"), std::string::npos)
      << again.note_with("The rest");
  EXPECT_EQ(again.first_shares[0], 1 / 22.0);
  EXPECT_EQ(again.last_shares[0], 1);
}

}  // namespace
}  // namespace molgraph
