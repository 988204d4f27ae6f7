// A run does the works of its plan, in order, and goes on after a stop in any of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>

#include "apps/training/baselines/booster.hpp"
#include "apps/training/train_run.hpp"
#include "featurize/smiles/chemistry.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

using Works = std::vector<std::string>;

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

/// What a run tells; stops it inside the work at `stop_in` of the plan.
struct Listener {
  std::vector<PlannedWork> plan;
  Works begun;  ///< after the plan
  std::optional<std::size_t> stop_in;
  std::int64_t stop_after = 0;  ///< only once so much of that work is done
  std::atomic<bool> stop{false};
  std::vector<std::string> notes;
  std::vector<double> shares;  ///< of the work that goes on, as they were told
  std::vector<double> first_shares, last_shares;

  void listen(RunControl& control) {
    control.plan = [this](const std::vector<PlannedWork>& works) {
      EXPECT_TRUE(plan.empty()) << "told twice";
      plan = works;
    };
    control.begin = [this](const std::string& what, const std::string&, std::int64_t) {
      shares.clear();
      if (plan.empty()) return;  // reading and descriptors
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
  Works planned() const {
    Works names;
    for (const PlannedWork& work : plan) names.push_back(work.what);
    return names;
  }
  std::string note_with(const std::string& part) const {
    for (const std::string& line : notes)
      if (line.find(part) != std::string::npos) return line;
    return "";
  }
};

/// The works of a run, made of its pieces; a build without XGBoost has no trees.
class Expected {
 public:
  Expected& training(bool refit = false) {
    works_.insert(works_.end(), refit ? 2 : 1, kTrainingWork);
    return add({kPredictingWork});
  }
  Expected& baselines() { return add({kNearestWork, kProcessWork, kTreesWork}); }
  Expected& blend() { return add({kTreesWork, kProcessWork}); }
  Works with_domain() { return add({kDomainWork}).works_; }
  Works alone() const { return works_; }

 private:
  Expected& add(const Works& works) {
    for (const std::string& work : works)
      if (work != kTreesWork || !xgboost_version().empty()) works_.push_back(work);
    return *this;
  }
  Works works_;
};

class RunPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (rdkit_version().empty()) GTEST_SKIP() << "built without RDKit";
  }
  /// Expects both the plan and what is done to be these works; what was told.
  const Listener& expect(const TrainRun& asked, const Works& works) {
    TrainRun run = asked;
    Listener& heard = heard_;
    heard.listen(run.control);
    run_training(run);
    EXPECT_EQ(heard.planned(), works);
    EXPECT_EQ(heard.begun, works);
    for (const PlannedWork& work : heard.plan) EXPECT_GT(work.seconds, 0) << work.what;
    EXPECT_EQ(heard.last_shares.size(), works.size());
    for (std::size_t k = 0; k < works.size(); ++k) {
      EXPECT_GE(heard.first_shares[k], 0) << works[k];
      if (works[k] != kTrainingWork) EXPECT_EQ(heard.last_shares[k], 1) << works[k] << " " << k;
      else EXPECT_LE(heard.last_shares[k], 1) << k;
    }
    EXPECT_NE(heard.note_with("The run takes about"), "");
    return heard;
  }

  test::Scratch scratch_;
  Listener heard_;
};

TEST_F(RunPlan, OneModelWithABlend) {
  const Listener& heard = expect(small_run(scratch_), Expected().training().baselines().blend().with_domain());
  EXPECT_EQ(heard.last_shares[0], 1);
  EXPECT_NE(heard.note_with("The run takes about").find("(2 epochs, 4 steps of "), std::string::npos)
      << heard.note_with("The run takes about");
}

TEST_F(RunPlan, NothingButATraining) {
  TrainRun run = small_run(scratch_);
  run.options.training.baselines = Switch::off;
  run.options.training.domain = false;
  run.options.data.split_sizes = {1.0, 0.0, 0.0};
  expect(run, Expected().training().alone());
}

TEST_F(RunPlan, BaselinesWithoutABlend) {
  TrainRun run = small_run(scratch_);
  run.options.training.blend = Switch::off;
  run.options.data.target_columns = {"penalized_logp", "nitrogen"};
  expect(run, Expected().training().baselines().with_domain());
}

TEST_F(RunPlan, AnEnsembleThatLearnsTheValidationPartToo) {
  TrainRun run = small_run(scratch_);
  run.options.training.ensemble_size = 2;
  run.options.training.refit = true;
  const Listener& heard = expect(run, Expected().training(true).training(true).baselines().blend().with_domain());
  EXPECT_NE(heard.note_with("4 trainings"), "");
}

TEST_F(RunPlan, MembersWithSplitsOfTheirOwn) {
  TrainRun run = small_run(scratch_);
  run.options.training.ensemble_size = 2;
  run.options.training.member_splits = Switch::on;
  expect(run, Expected().training().training().baselines().baselines().blend().with_domain());
}

TEST_F(RunPlan, InnerFolds) {
  TrainRun run = small_run(scratch_);
  run.options.training.out_of_fold = Switch::on;
  Expected works;
  for (int model = 0; model < 6; ++model) works.training();
  for (int fold = 0; fold < 5; ++fold) works.baselines();
  expect(run, works.blend().with_domain());
}

TEST_F(RunPlan, FoldsTrainWholeEpochs) {
  TrainRun run = small_run(scratch_);
  run.options.data.folds = 2;
  run.options.training.epochs.reset();
  run.options.training.steps = 1;
  run.options.training.batch_size = 4;
  const Listener& heard =
      expect(run, Expected().training().baselines().blend().training().baselines().blend().with_domain());
  const std::string line = heard.note_with("The run takes about");
  const std::size_t fold_0 = test::lines_of(scratch_.read("R/model_0/metrics.csv")).size();
  EXPECT_EQ(fold_0, 2u) << "a heading and one epoch";
  std::int64_t steps = 0;
  for (const char* fold : {"R/model_0/metrics.csv", "R/model_1/metrics.csv"})
    steps += std::stoll(test::cells_of(test::lines_of(scratch_.read(fold)).back()).at(1));
  EXPECT_NE(line.find("2 trainings"), std::string::npos) << line;
  EXPECT_NE(line.find(", " + std::to_string(steps) + " steps in total of "), std::string::npos) << line;
}

TEST_F(RunPlan, AStopInAnyWorkIsGoneOnFrom) {
  TrainRun whole = small_run(scratch_);
  whole.options.training.ensemble_size = 2;
  run_training(whole);
  const std::string wanted = scratch_.read("R/test_predictions.csv");
  const Works works = Expected().training().training().baselines().blend().with_domain();
  for (std::size_t k = 0; k < works.size(); ++k) {
    TrainRun run = whole;
    run.folder = scratch_.path("stopped" + std::to_string(k));
    std::filesystem::create_directory(run.folder);
    Listener heard;
    heard.stop_in = k;
    heard.listen(run.control);
    EXPECT_THROW(run_training(run), Stopped) << works[k];
    EXPECT_EQ(heard.begun, Works(works.begin(), works.begin() + static_cast<std::ptrdiff_t>(k + 1)));

    Listener again;
    again.listen(run.control);
    run.resume = true;
    run_training(run);
    EXPECT_EQ(scratch_.read("stopped" + std::to_string(k) + "/test_predictions.csv"), wanted) << works[k];
    EXPECT_EQ(again.planned(), works);
    EXPECT_EQ(again.plan[0].seconds > 0, k == 0) << "of a training that has ended nothing is left";
    EXPECT_NE(again.note_with("The rest of the run takes about"), "");
  }
}

TEST_F(RunPlan, WhatIsLeftOfATrainingIsCountedFromWhereItGoesOn) {
  TrainRun run = small_run(scratch_);
  run.options.training.epochs = 4;
  run.options.training.batch_size = 4;  // 9 steps an epoch
  Listener heard;
  heard.stop_in = 0;
  heard.stop_after = 13;
  heard.listen(run.control);
  EXPECT_THROW(run_training(run), Stopped);
  EXPECT_NE(heard.note_with("Stopped after step 14"), "");
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
