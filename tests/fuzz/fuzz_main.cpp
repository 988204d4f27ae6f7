// Random damage to all external input. Every case must give a valid result or a typed error, in bounded time and
// memory.
//     molgraph-fuzz models|stores|archives|tables|smiles [--count N] [--seed S] [--only CASE] [SEED FILE ...]
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>

#include "tests/fuzz/workers.hpp"

namespace {

using namespace molgraph::fuzz;

int usage() {
  std::fprintf(stderr,
               "usage: molgraph-fuzz models|stores|archives|tables|smiles [--count N] [--seed S] [--only CASE] [SEED "
               "FILE ...]\n");
  return 2;
}

template <typename Number>
bool read(const char* text, Number& number) {
  const auto [stop, error] = std::from_chars(text, text + std::strlen(text), number);
  return error == std::errc() && *stop == '\0';
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<std::unique_ptr<Kind>()>> kinds{{"models", make_models},
                                                                            {"stores", make_stores},
                                                                            {"archives", make_archives},
                                                                            {"tables", make_tables},
                                                                            {"smiles", make_smiles}};
  FuzzOptions options;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    bool valid = true;
    if (argument == "--count" && k + 1 < argc) valid = read(argv[++k], options.count);
    else if (argument == "--seed" && k + 1 < argc) valid = read(argv[++k], options.seed);
    else if (argument == "--only" && k + 1 < argc) valid = read(argv[++k], options.only);
    else if (argument.starts_with("-")) valid = false;
    else if (options.kind.empty()) options.kind = argument;
    else options.seed_files.push_back(argument);
    if (!valid) return usage();
  }
  if (!kinds.contains(options.kind)) return usage();
  return run_cases(*kinds.at(options.kind)(), options) ? 0 : 1;
}
