// HDF5 stores: damaged bytes anywhere, or after the header with updated checksums, so that the damage reaches HDF5 and
// the checks of the content.
#include <xxhash.h>

#include <cmath>
#include <cstring>

#include "datasets/load.hpp"
#include "datasets/store/store.hpp"
#include "datasets/system/files.hpp"
#include "tests/fuzz/kind.hpp"

namespace molgraph::fuzz {
namespace {

constexpr std::size_t kUserBlock = 512, kMaxPairs = 6;
constexpr std::string_view kSymbols{"\0\1\2\3\xff\xfe\x10\x40\x80OHDRTREESNODHEAP", 25};

struct Seed {
  const char *name, *table;
  bool pairs;
  Features features;
  std::optional<TaskKind> task;
};
constexpr const char* kNumbers =
    "id,smiles,y,z,split\na,CCO,1.5,1,train\nb,c1ccccc1C(=O)O,,2.25,train\nc,C1CC,3,4,train\nd,[Na+].[Cl-],-500000.05,"
    "5,val\n"
    "e,F/C=C/[C@H](N)Br,7,,test\nf,CCCCCCCCCCCCCCCC,8,1e-3,train\n,,9,1,train\ng,C,1,1,train\n";
constexpr const char* kWords =
    "smiles,kind\nCCO,red\nCCN,green\nc1ccncc1,blue\nCC(=O)OC,red\nC,green\nCC,blue\nCCCl,red\nOCC,blue\n";
const Seed kSeeds[] = {{"pairs", kNumbers, true, Features::ogb, {}},
                       {"bare", kNumbers, false, Features::zinc, {}},
                       {"classes", kWords, true, Features::molgraph, TaskKind::multiclass}};

/// Updates the header of changed bytes. A second implementation of the layout in store_layout.hpp.
void update_header(std::string& bytes) {
  if (bytes.size() < kUserBlock) return;
  const std::uint64_t length = bytes.size(),
                      checksum = XXH3_64bits(bytes.data() + kUserBlock, bytes.size() - kUserBlock);
  std::memcpy(bytes.data() + 24, &length, 8);
  std::memcpy(bytes.data() + 32, &checksum, 8);
  const std::uint64_t own = XXH3_64bits(bytes.data(), 504);
  std::memcpy(bytes.data() + 504, &own, 8);
}

void check_set(const MoleculeSet& set, const StoreSummary& summary) {
  const auto molecules = static_cast<std::size_t>(set.size());
  require(set.size() == summary.molecules, "as many molecules as the summary says");
  require(set.id.size() == molecules && set.smiles.size() == molecules, "an id and a SMILES per molecule");
  require(set.targets.size() == molecules * set.task.names.size(), "targets of all molecules");
  for (const double value : set.targets) require(!std::isinf(value), "finite targets");
  const FeatureShape& shape = feature_shape(set.featurizer.features);
  for (std::int64_t g = 0; g < set.size(); ++g) {
    const GraphView graph = set.graph(g);
    require(set.row[static_cast<std::size_t>(g)] >= 0, "row numbers");
    require(graph.num_atoms > 0, "atoms");
    for (int a = 0; a < graph.num_atoms; ++a)
      for (int c = 0; c < shape.atom_columns; ++c)
        require(graph.atoms[a][c] < shape.atom_dims[static_cast<std::size_t>(c)], "atom columns in range");
    for (int b = 0; b < graph.num_bonds; ++b) {
      require(graph.bond_atoms[2 * b] < graph.num_atoms && graph.bond_atoms[2 * b + 1] < graph.num_atoms,
              "bonds of the molecule's atoms");
      for (int c = 0; c < shape.bond_columns; ++c)
        require(graph.bonds[b][c] < shape.bond_dims[static_cast<std::size_t>(c)], "bond columns in range");
    }
  }
  for (const auto& [name, split] : set.splits)
    for (const auto* part : {&split.train, &split.valid, &split.test})
      for (const std::int64_t g : *part) require(g >= 0 && g < set.size(), "sets of split " + name + " in range");
}

class Stores : public Kind {
 public:
  void make_seeds(const std::string& folder) const override {
    for (const Seed& seed : kSeeds) {
      LoadOptions options;
      put_file(folder + "/" + seed.name + ".csv", seed.table);
      options.paths = {folder + "/" + seed.name + ".csv"};
      options.features = seed.features;
      options.task = seed.task;
      options.threads = 1;
      if (seed.table == kNumbers) {
        options.splits_column = "split";
        options.target_columns = {"y", "z"};
      } else {
        options.split = SplitKind::random;
        options.target_columns = {"kind"};
      }
      load_to_store(options, folder + "/" + seed.name + ".h5", {.pairs = seed.pairs, .threads = 1, .chunk = 64});
    }
  }

  void open(const std::string& folder, const std::vector<std::string>& more) override {
    for (const std::string& path : more) bytes_.push_back(read_file(path));
    for (const Seed& seed : kSeeds) bytes_.push_back(read_file(folder + "/" + seed.name + ".h5"));
  }

  bool run(Random& random, const std::string& scratch) const override {
    const std::string path = scratch + "/a.h5";
    std::string bytes = one_of(random, bytes_);
    if (one_in(random, 4)) {
      bytes = damaged(std::move(bytes), random, kSymbols);
    } else {
      const std::size_t begin = kUserBlock + below(random, bytes.size() - kUserBlock), size = 1 + below(random, 4096);
      bytes = bytes.substr(0, begin) + damaged(bytes.substr(begin, size), random, kSymbols) +
              (begin + size < bytes.size() ? bytes.substr(begin + size) : "");
      update_header(bytes);
    }
    put_file(path, bytes);
    const Store store(path);
    const MoleculeSet set = store.load();
    check_set(set, store.summary());
    for (std::int64_t g = 0; g < std::min<std::int64_t>(set.size(), kMaxPairs); ++g) {
      const PairRelations pairs = store.pairs(g);
      const auto tokens = static_cast<std::size_t>(set.graph(g).num_atoms) + 1;
      require(pairs.topology.size() == tokens * tokens && pairs.edge.size() == tokens * tokens,
              "relations of all pairs");
    }
    return true;
  }

 private:
  std::vector<std::string> bytes_;
};

}  // namespace

std::unique_ptr<Kind> make_stores() { return std::make_unique<Stores>(); }

}  // namespace molgraph::fuzz
