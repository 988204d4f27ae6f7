// Explanations, from training to the columns of molgraph-score.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTiny = " --epochs 2 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 ";
const std::string kNoBaselines = kTiny + "--no-baselines ";
constexpr double kRounding = 1e-5;  // cells have the digits of float32
constexpr double kComplete = 0.01;  // of the difference, or of 0.1 standard deviations of the target (about 2)

std::string table(bool with_class) {
  std::string text = with_class ? "smiles,y,kind\n" : "smiles,y\n";
  const char* ends[] = {"O", "N", "F", "c1ccccc1", "C1CC1", "C(=O)O"};
  for (int k = 0; k < 240; ++k) {
    const int length = 1 + k % 20;
    text += "C" + std::string(static_cast<std::size_t>(length), 'C') + (k / 120 > 0 ? "(C)" : "") + ends[k / 20 % 6] +
            "," + std::to_string(0.1 * length + 0.37 * ((k * 7919) % 11)) +
            (with_class ? (k / 20 % 6 == 3 || k / 20 % 6 == 4 ? ",yes" : ",no") : "") + "\n";
  }
  return text;
}

using Row = std::map<std::string, std::string>;

double number(const Row& row, const std::string& column) {
  const auto found = row.find(column);
  return found == row.end() ? 0 : std::stod(found->second);
}

/// The sum of a cell's atom attributions, and the number of atoms.
std::pair<double, int> sum_of(const std::string& cell) {
  std::istringstream numbers(cell);
  double sum = 0;
  int count = 0;
  for (double one = 0; numbers >> one; ++count) sum += one;
  return {sum, count};
}

class ExplainCli : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch.write("t.csv", table(false));
    scratch.write("in.csv", "smiles\nCCO\nc1ccccc1CC(=O)O\nnot one\nC\nCCCCCCCCCN\n");
  }
  ShellResult run(const std::string& command) const { return scratch.run(bin_dir(), command); }
  void train(const std::string& arguments, const std::string& tiny = kNoBaselines) const {
    const ShellResult result = run("molgraph-train " + arguments + tiny);
    EXPECT_EQ(result.code, 0) << result.err;
  }
  std::vector<Row> rows(const std::string& file) const {
    const auto lines = lines_of(scratch.read(file));
    const auto names = cells_of(lines.at(0));
    std::vector<Row> all;
    for (std::size_t k = 1; k < lines.size(); ++k) {
      const auto cells = cells_of(lines[k]);
      all.emplace_back();
      for (std::size_t c = 0; c < names.size() && c < cells.size(); ++c) all.back()[names[c]] = cells[c];
    }
    return all;
  }
  /// Scores in.csv and checks every sum. With `logit`, sums are compared with log-odds.
  std::vector<Row> explained(const std::string& model, const std::string& target = "y", bool logit = false) const {
    const ShellResult result = run("molgraph-score -m " + model + " -i in.csv -o out.csv --explain atoms");
    EXPECT_EQ(result.code, 0) << result.err;
    const std::vector<Row> all = rows("out.csv");
    for (const Row& row : all) {
      if (row.at("status") != "ok") {
        EXPECT_EQ(row.at(target + "_atoms") + row.at(target + "_baseline"), "");
        continue;
      }
      const double prediction = number(row, target + "_pred"),
                   value = logit ? std::log(prediction / (1 - prediction)) : prediction;
      const double base = number(row, target + "_baseline");
      const double sum = base + sum_of(row.at(target + "_atoms")).first + number(row, target + "_descriptors") +
                         number(row, target + "_blend");
      EXPECT_NEAR(sum, value, kComplete * std::max(std::abs(value - base), 0.1) + kRounding * std::abs(value));
      EXPECT_EQ(row.at("reason"), "");
    }
    EXPECT_EQ(all.size(), 5u);
    return all;
  }

  Scratch scratch;
};

TEST_F(ExplainCli, ColumnsSumToThePredictionAndOthersAreUnchanged) {
  train("t.csv -o R --descriptors none");
  const auto all = explained("R");
  EXPECT_EQ(sum_of(all[0].at("y_atoms")).second, 3);
  EXPECT_EQ(sum_of(all[1].at("y_atoms")).second, 10);
  EXPECT_EQ(all[2].at("status"), "invalid_smiles");
  EXPECT_FALSE(all[0].contains("y_descriptors") || all[0].contains("y_blend"));
  ASSERT_EQ(
      run("molgraph-score -m R -i in.csv -o plain.csv && molgraph-score -m R -i in.csv -o all.csv --explain atoms "
          "&& molgraph-score -m R -i in.csv -o rollout.csv --explain rollout")
          .code,
      0);
  const auto plain = rows("plain.csv"), rollout = rows("rollout.csv");
  for (std::size_t k = 0; k < plain.size(); ++k) {
    EXPECT_EQ(plain[k].at("y_pred"), all[k].at("y_pred"));
    if (k != 2) {
      EXPECT_NEAR(sum_of(rollout[k].at("rollout")).first, 1, kRounding);
    }
  }
  EXPECT_THAT(scratch.read("plain.csv"), Not(HasSubstr("y_atoms")));
  // The output does not depend on the threads or the batch size.
  ASSERT_EQ(run("molgraph-score -m R -i in.csv -o two.csv --explain atoms --threads 2 --batch-size 2").code, 0);
  EXPECT_EQ(scratch.read("two.csv"), scratch.read("all.csv"));
  ASSERT_EQ(run("molgraph-score -m R -i in.csv -o out.jsonl --explain atoms").code, 0);
  const auto lines = lines_of(scratch.read("out.jsonl"));
  const auto ethanol = nlohmann::json::parse(lines.at(0)), bad = nlohmann::json::parse(lines.at(2));
  ASSERT_EQ(ethanol["y_atoms"].size(), 3u);
  EXPECT_NEAR(ethanol["y_atoms"][0].get<double>(), std::stod(all[0].at("y_atoms")), kRounding);
  EXPECT_TRUE(bad["y_atoms"].is_null());
}

TEST_F(ExplainCli, DescriptorsBlendsEnsemblesFoldsAndRefitsAreExplained) {
  train("t.csv -o B --no-out-of-fold", kTiny);  // regression on an own table: descriptors and a blend by default
  const auto blended = explained("B");
  EXPECT_NE(number(blended[0], "y_descriptors"), 0);
  EXPECT_TRUE(blended[0].contains("y_blend"));
  train("t.csv -o E --ensemble-size 2");
  explained("E");
  EXPECT_TRUE(scratch.exists("E/model_1/explanation.safetensors"));
  train("t.csv -o F --folds 3 --split-sizes 0.6 0.3 0.1");
  explained("F");
  train("t.csv -o X --refit");
  explained("X");
  EXPECT_THAT(run("molgraph-info X").out, Not(HasSubstr("missing")));
  // The refit model also learns the validation set, so its mean is over more atoms.
  train("t.csv -o P");
  const auto atoms = [&](const std::string& folder) {
    return nlohmann::json::parse(run("molgraph-info --json " + folder).out)["explanation"]["atoms"].get<int>();
  };
  EXPECT_GT(atoms("X"), atoms("P"));
}

TEST_F(ExplainCli, CalibratedProbabilityIsExplained) {
  scratch.write("k.csv", table(true));
  train("k.csv -o K --target-columns kind --lr 0.01 --from none --split-sizes 0.5 0.4 0.1 ",
        " --epochs 1 --batch-size 8 --layers 1 --width 16 --ffn 16 --heads 2 --threads 1 --no-baselines");
  const auto file = nlohmann::json::parse(scratch.read("K/calibration.json"));
  EXPECT_NE(file["targets"][0]["temperature"].get<double>(), 1);
  explained("K", "kind", true);
}

TEST_F(ExplainCli, RunWithoutExplanationFileStillScores) {
  train("t.csv -o R --descriptors none --no-out-of-fold");
  ASSERT_EQ(run("molgraph-score -m R -i in.csv -o a.csv && mv R/explanation.safetensors kept").code, 0);
  const ShellResult lost = run("molgraph-score -m R -i in.csv -o x.csv --explain atoms");
  EXPECT_EQ(lost.code, 4);
  EXPECT_THAT(lost.err, HasSubstr("explanation.safetensors is missing"));
  ASSERT_EQ(run("sed -i '/\"explained\"/d' R/run.json && sed -i 's/true,$/true/' R/run.json; "
                "python3 -c 'import json;d=json.load(open(\"R/run.json\"))' || sed -i -z 's/,\\n}/\\n}/' R/run.json")
                .code,
            0);
  ASSERT_EQ(run("molgraph-score -m R -i in.csv -o b.csv").code, 0);
  EXPECT_EQ(scratch.read("a.csv"), scratch.read("b.csv"));
  const ShellResult none = run("molgraph-score -m R -i in.csv -o x.csv --explain atoms");
  EXPECT_EQ(none.code, 2) << none.err;
  EXPECT_THAT(none.err, HasSubstr("cannot be explained"));
  EXPECT_FALSE(scratch.exists("x.csv"));
  EXPECT_EQ(run("molgraph-score -m R -i in.csv -o r.csv --explain rollout").code, 0);
  EXPECT_THAT(run("molgraph-info R").out, HasSubstr("missing"));
  ASSERT_EQ(run("molgraph-train --resume -o R").code, 0);
  ASSERT_EQ(run("cmp R/explanation.safetensors kept").code, 0);
  explained("R");
  scratch.write("R/explanation.safetensors", "damaged");
  EXPECT_EQ(run("molgraph-score -m R -i in.csv -o x.csv --explain atoms").code, 4);
}

TEST_F(ExplainCli, RejectsInvalidOptions) {
  train("t.csv -o R --descriptors none");
  for (const char* bad : {"--explain bonds", "--explain", "--explain atoms --precision bf16"})
    EXPECT_EQ(run(std::string("molgraph-score -m R -i in.csv -o x.csv ") + bad).code, 2) << bad;
  EXPECT_EQ(run("molgraph-score -m R -i in.csv -o R/explanation.safetensors.csv --explain atoms").code, 0);
  EXPECT_FALSE(scratch.exists("x.csv"));
}

TEST_F(ExplainCli, DrawsAPictureOfEachRow) {
  train("t.csv -o R --descriptors none");
  scratch.write("draw.csv", "smiles,id\nCC(=O)Oc1ccccc1C(=O)O,as/../pirin\nnot one,x\n[2H]OC,\nC,<&>\n");
  ASSERT_EQ(run("molgraph-score -m R -i draw.csv -o out.csv --explain atoms --draw pictures").code, 0);
  EXPECT_EQ(run("ls pictures").out, "1-as____pirin.svg\n3.svg\n4-___.svg\n");
  const std::string aspirin = scratch.read("pictures/1-as____pirin.svg");
  EXPECT_THAT(aspirin, HasSubstr("class='atom-12'"));
  EXPECT_THAT(aspirin, Not(HasSubstr("class='atom-13'")));
  EXPECT_THAT(aspirin, HasSubstr("fill:#"));
  const ShellResult read =
      run("python3 -c 'import xml.dom.minidom, glob\nfor f in glob.glob(\"pictures/*.svg\"): "
          "print(xml.dom.minidom.parse(f).documentElement.tagName)'");
  EXPECT_EQ(read.out, "svg\nsvg\nsvg\n") << read.err;
  // The largest attribution has the full colour: orange if positive, blue if negative.
  double largest = 0;
  std::istringstream numbers(rows("out.csv")[0].at("y_atoms"));
  for (double one = 0; numbers >> one;) largest = std::abs(one) > std::abs(largest) ? one : largest;
  EXPECT_THAT(aspirin, HasSubstr(largest > 0 ? "#E69F00" : "#0072B2"));
  EXPECT_EQ(run("molgraph-score -m R -i draw.csv -o out.csv --explain rollout --draw more/inside").code, 0);
  EXPECT_THAT(scratch.read("more/inside/4-___.svg"), HasSubstr("#E69F00"));
  for (const char* bad : {"--draw new", "--explain atoms --draw pictures", "--explain atoms --draw-target y",
                          "--explain atoms --draw new --draw-target z"})
    EXPECT_EQ(run(std::string("molgraph-score -m R -i draw.csv -o x.csv ") + bad).code, 2) << bad;
  EXPECT_FALSE(scratch.exists("x.csv") || scratch.exists("new"));
}

TEST_F(ExplainCli, FragmentsAreColumnsAndPictures) {
  train("t.csv -o R");
  scratch.write("f.csv", "smiles\nOCc1ccccc1\nnot one\nCCO\nc1ccccc1\n");
  ASSERT_EQ(run("molgraph-score -m R -i f.csv -o out.csv --explain fragments --draw pictures").code, 0);
  const std::vector<Row> all = rows("out.csv");
  EXPECT_EQ(all[0].at("fragment_of_atom"), "0 0 1 1 1 1 1 1");
  EXPECT_EQ(all[1].at("fragment_of_atom") + all[1].at("y_fragments"), "");
  EXPECT_EQ(all[2].at("y_fragments"), "nan");
  std::vector<double> changes;
  std::istringstream numbers(all[0].at("y_fragments"));
  for (double one = 0; numbers >> one;) changes.push_back(one);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_NEAR(changes[0], number(all[0], "y_pred") - number(all[3], "y_pred"), kRounding);
  const std::string picture = scratch.read("pictures/1.svg");
  const double largest = std::abs(changes[0]) > std::abs(changes[1]) ? changes[0] : changes[1];
  EXPECT_THAT(picture, HasSubstr(largest > 0 ? "#E69F00" : "#0072B2"));
  ASSERT_EQ(run("molgraph-score -m R -i f.csv -o more.csv --explain fragments --domain --interval 0.9").code, 0);
  EXPECT_EQ(rows("more.csv")[0].at("y_fragments"), all[0].at("y_fragments"));
  ASSERT_EQ(run("molgraph-score -m R -i f.csv -o out.jsonl --explain fragments").code, 0);
  const auto row = nlohmann::json::parse(lines_of(scratch.read("out.jsonl")).at(2));
  EXPECT_EQ(row.at("fragment_of_atom"), nlohmann::json({0, 0, 0}));
  EXPECT_TRUE(row.at("y_fragments").at(0).is_null());
}

TEST_F(ExplainCli, InterruptedOutputResumes) {
  train("t.csv -o R --descriptors none");
  std::string many = "smiles\n";
  for (int k = 0; k < 4000; ++k) many += "C" + std::string(static_cast<std::size_t>(k % 60), 'C') + "O\n";
  scratch.write("many.csv", many);
  ASSERT_EQ(run("molgraph-score -m R -i many.csv -o whole.csv --explain atoms --threads 1").code, 0);
  const std::string call = "molgraph-score -m R -i many.csv -o part.csv --explain atoms --threads 1";
  EXPECT_EQ(run("timeout -s INT 1 " + call).code, 124);
  ASSERT_TRUE(scratch.exists("part.csv.part"));
  EXPECT_EQ(run("molgraph-score -m R -i many.csv -o part.csv --threads 1 --resume").code, 4)
      << "without the explanation columns";
  const ShellResult resumed = run(call + " --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(scratch.read("part.csv"), scratch.read("whole.csv"));
}

}  // namespace
}  // namespace molgraph::test
