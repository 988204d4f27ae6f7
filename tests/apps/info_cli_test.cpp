// molgraph-info: describes runs and stores, and rejects damaged files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "apps/training/loop/model_factory.hpp"
#include "tests/apps/shell.hpp"
#include "tests/apps/tiny_model.hpp"
#include "tests/support/places.hpp"

namespace molgraph::test {
namespace {

class InfoTest : public testing::Test {
 protected:
  ShellResult info(const std::string& arguments) { return scratch.run(bin_dir(), "molgraph-info " + arguments); }

  Scratch scratch;
};

TEST_F(InfoTest, DescribesARun) {
  auto config = tiny_config(graphormer_architecture(), {"logS"});
  config.task.units = {"log mol/l"};
  save_tiny_run(scratch.path("run"), config, 1);
  scratch.write("run/splits.csv", "row,id,smiles,split\n0,a,CCO,train\n1,\"b,c\",CC,train\n2,d,C,test\n3,e,O,\n");
  scratch.write("run/metrics.csv", "epoch,step,lr,train_loss,valid_mae\n1,10,0.1,0.5,0.4\n2,20,0.05,0.3,0.25\n");
  scratch.write("run/results.csv", "part,n,metric,value\ntrain,2,mae,0.2\ntest,1,mae,0.3\ntest,1,rmse,0.35\n");
  const auto result = info("run --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto card = nlohmann::json::parse(result.out);
  std::int64_t parameters = 0;
  for (const auto& parameter : load_model(scratch.path("run/model.safetensors")).model->parameters()) {
    parameters += parameter.numel();
  }
  EXPECT_EQ(card["parameters"], parameters);
  EXPECT_EQ(card["model"], "graphormer");
  EXPECT_EQ(card["encoder"]["width"], kTinyWidth);
  EXPECT_EQ(card["encoder"]["gate"], true);
  EXPECT_EQ(card["featurizer"]["hash"], config.featurizer.hash());
  EXPECT_EQ(card["targets"][0]["unit"], "log mol/l");
  EXPECT_EQ(card["targets"][0]["scaling"]["shift"], 3);
  EXPECT_EQ(card["targets"][0]["scaling"]["scale"], 2);
  EXPECT_EQ(card["splits"]["train"], 2);
  EXPECT_EQ(card["splits"]["unused"], 1);
  EXPECT_EQ(card["training"]["epochs"], 2);
  EXPECT_EQ(card["training"]["last_epoch"]["valid_mae"], 0.25);
  EXPECT_EQ(card["results"]["test"]["rmse"], 0.35);

  const auto text = info("run -v");
  for (const char* piece : {"graphormer", "logS", "log mol/l", "max_distance", "valid_mae", "featurizer", "rmse"}) {
    EXPECT_NE(text.out.find(piece), std::string::npos) << piece << "\n" << text.out;
  }
}

TEST_F(InfoTest, DescribesEnsemblesAndModelFiles) {
  const auto config = tiny_config(grpe_architecture(), {"y"});
  save_tiny_run(scratch.path("all/model_0"), config, 1);
  save_tiny_run(scratch.path("all/model_1"), config, 2);
  const auto card = nlohmann::json::parse(info("all --json").out);
  EXPECT_EQ(card["kind"], "ensemble");
  EXPECT_EQ(card["runs"], 2);
  EXPECT_EQ(nlohmann::json::parse(info("all/model_1/model.safetensors --json").out)["kind"], "model file");
}

TEST_F(InfoTest, RejectsPathsThatAreNeitherRunNorStore) {
  scratch.write("text.csv", "smiles\nC\n");
  scratch.write("short.h5", "");
  scratch.write("folder/file", "");
  EXPECT_EQ(info("text.csv").code, 4);
  EXPECT_EQ(info("short.h5").code, 4);
  EXPECT_EQ(info("folder").code, 4);
  for (const char* option : {"", " --html", " --strip"}) {
    const auto missing = info(std::string("missing") + option), unreadable = info(std::string(300, 'x') + option);
    EXPECT_EQ(missing.code, 4) << option;
    EXPECT_NE(missing.err.find("no such run"), std::string::npos) << missing.err;
    EXPECT_EQ(unreadable.code, 4) << option;
    EXPECT_NE(unreadable.err.find("name too long"), std::string::npos) << unreadable.err;
  }
  EXPECT_EQ(info("").code, 2);
  scratch.write("in.csv", "smiles,y\nCCO,1\nCC,2\n");
  const auto damaged = scratch.run(bin_dir(),
                                   "molgraph-featurize in.csv -o in.h5 && molgraph-info in.h5 > card && "
                                   "truncate -s -100 in.h5 && molgraph-info in.h5");
  EXPECT_EQ(damaged.code, 4);
  EXPECT_NE(damaged.err.find("in.h5"), std::string::npos) << damaged.err;
  EXPECT_NE(scratch.read("card").find("molecules"), std::string::npos);
}

}  // namespace
}  // namespace molgraph::test
