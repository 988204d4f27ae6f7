#include "apps/training/options/train_options.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "apps/scoring/architectures.hpp"
#include "apps/training/options/recipes.hpp"
#include "featurize/graph/error.hpp"

namespace molgraph {

Words<const Encoding*> encoding_words() {
  Words<const Encoding*> words{{"", nullptr}};
  for (const Encoding& encoding : encodings()) words.emplace_back(encoding.name, &encoding);
  return words;
}

Words<const Architecture*> architecture_words() {
  Words<const Architecture*> words{{"", nullptr}};
  for (const Architecture* architecture : architectures()) words.emplace_back(architecture->name, architecture);
  return words;
}

/// A size may belong to several architectures.
Words<std::string> size_words() {
  Words<std::string> words{{"", ""}};
  for (const Architecture* architecture : architectures()) {
    for (const ModelSize& size : architecture->sizes) {
      const bool known =
          std::any_of(words.begin(), words.end(), [&](const auto& word) { return word.first == size.name; });
      if (!known) words.emplace_back(size.name, std::string(size.name));
    }
  }
  return words;
}

Words<std::string> recipe_words() {
  Words<std::string> words{{"", ""}};
  for (const Recipe& item : recipes()) words.emplace_back(item.name, item.name);
  return words;
}

std::string TrainOption::key() const {
  const std::string name = flags.substr(flags.rfind("--") + 2);
  return name.substr(0, name.find(','));  // a positional name may follow
}

std::vector<TrainOption> list_options(TrainOptions& options) { return options_over(options); }

namespace {

template <class T>
std::string problem_of(const TrainOption& option, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return {};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return word_problem(value, option.field.words);
  } else if constexpr (std::is_arithmetic_v<T>) {
    std::ostringstream text;
    text << std::setprecision(17) << value;
    return number_problem(text.str(), option.range);
  } else {
    const OptionField& field = option.field;
    if (field.min_items == field.max_items && field.max_items != 0 &&
        value.size() != static_cast<std::size_t>(field.max_items))
      return "takes " + std::to_string(field.max_items) + " values";
    std::string problem;
    for (const auto& item : value)
      if (problem.empty()) problem = problem_of(option, item);
    return problem;
  }
}

}  // namespace

std::string TrainOption::problem(const OptionValue& value) const {
  return std::visit([&](const auto& one) { return problem_of(*this, one); }, value);
}

void check_values(const TrainOptions& options) {
  TrainOptions copy = options;
  for (const auto& option : list_options(copy)) {
    if (const std::string problem = option.problem(option.field.get()); !problem.empty())
      throw UsageError("--" + option.key() + ": " + problem);
  }
}

}  // namespace molgraph
