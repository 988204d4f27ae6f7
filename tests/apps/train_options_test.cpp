#include "apps/training/options/train_options.hpp"

#include <gtest/gtest.h>

#include <set>

#include "apps/training/options/recipes.hpp"
#include "apps/training/run/run_options.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"
#include "tests/apps/shell.hpp"

namespace molgraph {
namespace {

TEST(TrainOptions, TablesGetMolgraphFeaturesUnlessARecipeIsGiven) {
  TrainOptions options;
  options.data.paths = {"my.csv"};
  EXPECT_EQ(to_load_options(options, 1).table_features, Features::molgraph);
  EXPECT_FALSE(to_load_options(options, 1).features.has_value());
  options.model.recipe = "grpe-molhiv";
  EXPECT_EQ(to_load_options(options, 1).table_features, Features::ogb);
  options.data.features = Features::molgraph;
  EXPECT_EQ(to_load_options(options, 1).features, Features::molgraph);
}

TEST(TrainOptions, TomlRoundTripKeepsEveryOption) {
  TrainOptions options;
  options.data.paths = {"a b.csv", "c\"d.csv"};
  options.data.split_sizes = {0.7, 0.2, 0.1};
  options.training.lr = 1.0 / 3.0;
  options.data.strict = true;
  options.model.share_encodings = Switch::off;
  options.training.seed = 12345;
  options.model.grpe_terms = {GrpeTerm::topology, GrpeTerm::value};
  const test::Scratch scratch;
  const std::string path = scratch.path("options.toml");
  write_file_atomically(path, to_toml(options));
  EXPECT_EQ(to_toml(train_options_from_toml(path)), to_toml(options));
  EXPECT_EQ(train_options_from_toml(path).training.lr, 1.0 / 3.0);
  EXPECT_EQ(train_options_from_toml(path).data.paths, options.data.paths);
}

TEST(TrainOptions, DamagedTomlFails) {
  const test::Scratch scratch;
  const std::string path = scratch.path("bad.toml");
  write_file_atomically(path, "epochs = [\n");
  EXPECT_THROW(train_options_from_toml(path), FileError);
  write_file_atomically(path, "epochs = 3\n");
  EXPECT_THROW(train_options_from_toml(path), FileError);
}

TEST(TrainOptions, MissingOptionInAConfigFileIsAnError) {
  std::string text = to_toml({});
  EXPECT_EQ(to_toml(train_options_from_text(text, "whole")), text);
  const std::string line = "seed = 0\n";
  ASSERT_NE(text.find("\n" + line), std::string::npos);
  text.erase(text.find("\n" + line) + 1, line.size());
  EXPECT_THROW(train_options_from_text(text, "partial"), FileError);
}

// --resume reads config.toml and rejects the same values as the command line.
TEST(TrainOptions, StoredValuesOutOfRangeFail) {
  const test::Scratch scratch;
  const std::string path = scratch.path("range.toml");
  for (const auto& [good, bad] :
       std::vector<std::pair<std::string, std::string>>{{"lr = 0.0005", "lr = nan"},
                                                        {"layers = 0", "layers = 65536"},
                                                        {"max-atoms = 1024", "max-atoms = 70000000000"},
                                                        {"urpe = 'auto'", "urpe = 'maybe'"},
                                                        {"ema = 0.0", "ema = 1.0"},
                                                        {"split-sizes = [ 0.8", "split-sizes = [ -0.8"}}) {
    std::string text = to_toml(TrainOptions{});
    ASSERT_NE(text.find(good), std::string::npos) << good << "\n" << text;
    text.replace(text.find(good), good.size(), bad);
    write_file_atomically(path, text);
    EXPECT_THROW(train_options_from_toml(path), FileError) << bad;
  }
}

TEST(TrainOptions, EveryNumberHasARange) {
  TrainOptions options;
  for (const auto& option : list_options(options)) {
    const bool number = std::visit(
        [](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          return (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, std::vector<double>>;
        },
        option.field.get());
    EXPECT_EQ(number, !std::holds_alternative<std::monostate>(option.range)) << option.key();
  }
  EXPECT_NO_THROW(check_values(options)) << "the defaults are in their ranges";
  for (const auto& item : recipes()) EXPECT_NO_THROW(check_values(item.options)) << item.name;
}

/// A different valid value of the field.
OptionValue another(const OptionField& field) {
  OptionValue value = field.get();
  const auto other_word = [&](const std::string& word) {
    if (field.words.empty()) return word + "x";
    return field.words[0] != word ? field.words[0] : field.words.at(1);
  };
  if (auto* text = std::get_if<std::string>(&value)) *text = other_word(*text);
  if (auto* flag = std::get_if<bool>(&value)) *flag = !*flag;
  if (auto* whole = std::get_if<std::int64_t>(&value)) ++*whole;
  if (auto* real = std::get_if<double>(&value)) *real += 0.125;
  if (auto* texts = std::get_if<std::vector<std::string>>(&value))
    *texts = {other_word(texts->size() == 1 ? texts->front() : "")};
  if (auto* reals = std::get_if<std::vector<double>>(&value)) {
    if (reals->empty()) reals->push_back(0);
    for (double& one : *reals) one += 0.125;
  }
  return value;
}

TEST(TrainOptions, EveryOptionHasItsOwnField) {
  TrainOptions options;
  const auto all = list_options(options);
  std::set<std::string> keys;
  for (const auto& option : all) {
    EXPECT_TRUE(keys.insert(option.key()).second) << option.key();
    EXPECT_FALSE(option.help.empty());
    std::vector<OptionValue> before;
    for (const auto& one : all) before.push_back(one.field.get());
    const OptionValue old = option.field.get();
    option.field.set(another(option.field));
    for (std::size_t k = 0; k < all.size(); ++k)
      EXPECT_EQ(all[k].field.get() != before[k], &all[k] == &option) << option.key() << " and " << all[k].key();
    option.field.set(old);
  }
}

}  // namespace
}  // namespace molgraph
