// Tables: CSV, TSV, SMI and SDF with invalid quotes and bytes, duplicate columns and truncated rows, plain and gzipped;
// read row by row, as a data set, and into a store.
#include <array>
#include <cmath>
#include <set>

#include "datasets/load.hpp"
#include "datasets/store/store.hpp"
#include "datasets/tables/table_reader.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/fuzz/kind.hpp"

namespace molgraph::fuzz {
namespace {

constexpr std::string_view kSymbols = ",;\t\"'\n\r 0123456789.-+eE<>%#\\/CNOcn()=";
const std::vector<std::string> kPieces{"\"",
                                       "\"\"",
                                       "\n",
                                       "\r\n",
                                       "\r",
                                       ",",
                                       ",,,,,,,,",
                                       "\t",
                                       ";",
                                       "\xEF\xBB\xBF",
                                       "\xFF\xFE",
                                       "\xE9",
                                       std::string(1, '\0'),
                                       "nan",
                                       "NA",
                                       "1e400",
                                       "-1e39",
                                       "0x10",
                                       ">50",
                                       "1,5",
                                       "true",
                                       "yes",
                                       "inf",
                                       "smiles",
                                       "smiles,smiles",
                                       "SMILES\n",
                                       "split",
                                       "train",
                                       "val",
                                       "$$$$\n",
                                       ">  <y>\n",
                                       ">  <>\n",
                                       "M  END\n",
                                       "C1CC1",
                                       "\xE2\x80\x93",
                                       "\"\n\"",
                                       std::string(3000, 'C'),
                                       std::string(200, ','),
                                       std::string(100, '\n'),
                                       "#",
                                       "[",
                                       "id"};

struct Seed {
  const char *suffix, *text;
};
constexpr const char* kRecord =
    "mol\n  made\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n    1.5000    "
    "0.0000    0.0000 O   0  0\n  1  2  1  0\nM  END\n>  <y>\n1.5\n\n";
constexpr Seed kSeeds[] = {
    {".csv",
     "id,smiles,y,z,split,when,comment\nm1,CCO,1.5,1,train,2024-03-01,x\nm2,CCN,-2,0,train,2024-03-02,\"a, "
     "b\"\nm3,c1ccccc1,0.25,1,val,2023-01-01,\"l1\nl2\"\n"
     "m4,C1CC,3,0,train,2022-05-05,x\nm5,CC(=O)O,,,test,2024-01-01,\"say "
     "\"\"no\"\"\"\nm6,C,5,1,train,2021-01-01,\nm7,CC,6,0,train,2020-01-01,x\nm8,CCC,7,1,train,2019-01-01,x\n"},
    {".csv", "CCO,1\nCCN,0\nCCC,1\nCCCC,0\nc1ccccc1,1\nCl,0\n"},
    {".csv", "smiles,class\r\nCCO,red\r\nCCN,green\r\nC,blue\r\nCC,red\r\nCCC,green\r\nCCCC,blue\r\n"},
    {".tsv", "Name\tSMILES\tlogP\n1\tCCO\t-0.3\n2\tCCN\t0.1\n\n3\tc1ccccc1\t2.1\n4\tCCCCCC\t3.9\n5\tCCl\t1.4\n"},
    {".smi", "CCO ethanol\nCCN\tamine\nc1ccccc1 benzene ring\n\nC\n"},
    {".sdf", nullptr}};

std::string text_of(const Seed& seed) {
  if (seed.text != nullptr) return seed.text;
  std::string text;
  for (int k = 0; k < 5; ++k) text += std::string(kRecord) + ">  <id>\nr" + std::to_string(k) + "\n\n$$$$\n";
  return text;
}

/// Requires that rows are numbered consecutively and have all cells. Returns their number.
std::int64_t read_rows(const std::string& path, const TableOptions& options) {
  TableReader reader(path, options);
  const std::size_t columns = reader.columns().size();
  require(columns > 0 && reader.smiles_column() >= 0 && reader.smiles_column() < static_cast<int>(columns),
          "a SMILES column");
  require(reader.id_column() >= -1 && reader.id_column() < static_cast<int>(columns), "an id column or no id column");
  std::int64_t rows = 0;
  for (TableRow row; reader.next(row); ++rows) {
    require(row.row == rows, "consecutive row numbers");
    require(row.cells.size() == columns, "a cell per column");
  }
  return rows;
}

/// `repeated`: rows of duplicate molecules.
void check_set(const MoleculeSet& set, const std::vector<RepeatedRow>& repeated, std::int64_t rows) {
  std::set<std::int64_t> seen;
  for (const std::int64_t row : set.row)
    require(row >= 0 && row < rows && seen.insert(row).second, "molecules of different rows");
  for (const RejectedRow& row : set.rejected) {
    require(row.row >= 0 && row.row < rows && seen.insert(row.row).second, "each rejected row once");
    require(!row.status.empty() && !row.reason.empty(), "a status and a reason of a rejected row");
  }
  for (const RepeatedRow& row : repeated) {
    require(row.row >= row.first && row.row < rows && seen.contains(row.first), "a valid first row of each duplicate");
    seen.insert(row.row);
  }
  require(static_cast<std::int64_t>(seen.size()) == rows, "every row is a molecule, rejected or a duplicate");
  require(set.targets.size() == set.row.size() * set.task.names.size(), "targets of all molecules");
  for (const double value : set.targets) require(!std::isinf(value), "finite targets");
}

void check_split(const Split& split, std::int64_t molecules) {
  std::set<std::int64_t> seen;
  for (const auto* part : {&split.train, &split.valid, &split.test})
    for (const std::int64_t g : *part)
      require(g >= 0 && g < molecules && seen.insert(g).second, "each molecule in one set");
}

class Tables : public Kind {
 public:
  void make_seeds(const std::string&) const override {}
  void open(const std::string&, const std::vector<std::string>&) override {}

  bool run(Random& random, const std::string& scratch) const override {
    const Seed& seed = one_of(random, kSeeds);
    std::string text = damaged(text_of(seed), random, kSymbols, kPieces), path = scratch + "/table" + seed.suffix;
    if (one_in(random, 5)) {
      text = testing::gzip(text);
      if (one_in(random, 2)) text = damaged(std::move(text), random, kSymbols);
      path += ".gz";
    }
    put_file(path, text);
    LoadOptions options = random_options(random);
    options.paths = {path};
    const std::int64_t rows = read_rows(path, options.table);
    if (one_in(random, 2)) {
      const LoadedData data = load_data(options);
      check_set(data.set, data.repeated, rows);
      check_split(data.split, data.set.size());
    } else {
      const StoreReport report = load_to_store(options, scratch + "/table.h5", {.threads = 1});
      require(report.rows == rows, "as many rows as were read");
      const MoleculeSet set = Store(scratch + "/table.h5").load();
      check_set(set, report.repeated, rows);
      for (const auto& [name, split] : set.splits) check_split(split, set.size());
    }
    return true;
  }

 private:
  static LoadOptions random_options(Random& random) {
    LoadOptions options;
    options.threads = 1;
    options.require_targets = !one_in(random, 3);
    options.table.no_header = one_in(random, 8);
    options.limits.max_atoms = 500;
    if (one_in(random, 3)) options.features = Features::zinc;
    if (one_in(random, 4))
      options.task =
          one_of(random, std::vector<TaskKind>{TaskKind::regression, TaskKind::binary, TaskKind::multiclass});
    constexpr std::array kRules{Duplicates::mean, Duplicates::median, Duplicates::keep, Duplicates::drop};
    if (one_in(random, 2)) options.duplicates = kRules[below(random, kRules.size())];
    switch (below(random, 7)) {
      case 0: options.split = SplitKind::random; break;
      case 1: options.split = SplitKind::scaffold; break;
      case 2: options.split = SplitKind::scaffold_balanced; break;
      case 3: options.splits_column = "split"; break;
      case 4:
        options.split = SplitKind::time;
        options.time_column = "when";
        break;
      case 5: options.split = SplitKind::order; break;
      default: break;
    }
    return options;
  }
};

}  // namespace

std::unique_ptr<Kind> make_tables() { return std::make_unique<Tables>(); }

}  // namespace molgraph::fuzz
