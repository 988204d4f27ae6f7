// Stores: round trips, atomic writes, equal files for any number of threads, and their chunk codec.
#include "datasets/store/store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <zlib.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>

#include "datasets/store/chunk_codec.hpp"
#include "datasets/system/files.hpp"
#include "tests/datasets/store_fixture.hpp"

namespace molgraph {
namespace {

using namespace testing_store;

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void expect_same(const MoleculeSet& a, const MoleculeSet& b) {
  EXPECT_EQ(a.featurizer, b.featurizer);
  EXPECT_EQ(a.task.kind, b.task.kind);
  EXPECT_EQ(a.task.names, b.task.names);
  EXPECT_EQ(a.task.units, b.task.units);
  EXPECT_EQ(a.task.classes, b.task.classes);
  EXPECT_EQ(a.task.class_labels, b.task.class_labels);
  EXPECT_EQ(a.source.name, b.source.name);
  EXPECT_EQ(a.source.file, b.source.file);
  EXPECT_EQ(a.source.sha256, b.source.sha256);
  EXPECT_EQ(a.source.rdkit_version, b.source.rdkit_version);
  EXPECT_EQ(a.atom_offset, b.atom_offset);
  EXPECT_EQ(a.bond_offset, b.bond_offset);
  EXPECT_EQ(a.atoms, b.atoms);
  EXPECT_EQ(a.bond_atoms, b.bond_atoms);
  EXPECT_EQ(a.bonds, b.bonds);
  EXPECT_EQ(a.row, b.row);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.smiles, b.smiles);
  EXPECT_TRUE(same_bits(a.targets, b.targets));
  ASSERT_EQ(a.splits.size(), b.splits.size());
  for (const auto& [name, split] : a.splits) {
    ASSERT_TRUE(b.splits.contains(name)) << name;
    EXPECT_EQ(split.train, b.splits.at(name).train);
    EXPECT_EQ(split.valid, b.splits.at(name).valid);
    EXPECT_EQ(split.test, b.splits.at(name).test);
  }
  ASSERT_EQ(a.rejected.size(), b.rejected.size());
  for (std::size_t r = 0; r < a.rejected.size(); ++r) {
    EXPECT_EQ(a.rejected[r].row, b.rejected[r].row);
    EXPECT_EQ(a.rejected[r].text, b.rejected[r].text);
    EXPECT_EQ(a.rejected[r].status, b.rejected[r].status);
    EXPECT_EQ(a.rejected[r].reason, b.rejected[r].reason);
  }
}

void expect_same_pairs(const MoleculeSet& set, const Store& store) {
  for (std::int64_t g = 0; g < set.size(); ++g) {
    const PairRelations expected = pair_relations(set.graph(g)), actual = store.pairs(g);
    EXPECT_EQ(expected.topology, actual.topology) << "molecule " << g;
    EXPECT_EQ(expected.edge, actual.edge) << "molecule " << g;
  }
}

/// Sizes at each limit: one atom, the largest with stored pairs (254), the smallest without (255), and far above.
std::vector<int> ragged_sizes() {
  std::vector<int> sizes{1, 2, 254, 255, 1, 300, 24, 17};
  for (int i = 0; i < 100; ++i) sizes.push_back(1 + i * 7 % 40);
  return sizes;
}

TEST(Store, RoundTripsEverything) {
  for (const Features features : kFeatureSets) {
    for (const bool pairs : {true, false}) {
      for (const std::int64_t chunk : {1, 7, 1000, 1 << 16}) {
        if (chunk == 1 && pairs) continue;  // 300,000 chunks of one element test nothing that size 7 does not
        SCOPED_TRACE(testing::Message() << to_string(features) << " pairs " << pairs << " chunk " << chunk);
        const Folder folder;
        const MoleculeSet set = make_set(chunk < 1000 ? std::vector<int>{1, 5, 9, 2} : ragged_sizes(), features);
        StoreWriterOptions options;
        options.pairs = pairs;
        options.chunk = chunk;
        write_store(folder / "a.h5", set, options);
        const Store store(folder / "a.h5");
        expect_same(set, store.load());
        expect_same_pairs(set, store);
        EXPECT_EQ(store.summary().has_pairs, pairs);
        EXPECT_EQ(store.summary().molecules, set.size());
        EXPECT_EQ(store.summary().atoms, set.atom_offset.back());
        EXPECT_EQ(store.summary().bonds, set.bond_offset.back());
        EXPECT_EQ(store.summary().rejected, 2);
        EXPECT_EQ(store.summary().splits, (std::vector<std::string>{"empty", "published"}));
        EXPECT_EQ(store.summary().file_bytes, static_cast<std::int64_t>(std::filesystem::file_size(folder / "a.h5")));
        EXPECT_EQ(store.summary().created.size(), std::string("2024-01-31T23:59:59Z").size());
      }
    }
  }
}

TEST(Store, LargeMoleculesHaveNoStoredPairs) {
  const Folder folder;
  write_store(folder / "a.h5", make_set({254, 255, 300}));
  EXPECT_EQ(Store(folder / "a.h5").summary().pairs, 254 * 253 / 2);
}

TEST(Store, FragmentsKeepTheirUnreachablePairs) {
  const Folder folder;
  MoleculeSet set = make_set({4});
  MolecularGraph salt = make_graph(Features::ogb, 6, 1);
  salt.bond_atoms = {0, 1, 3, 4};
  salt.bonds.resize(6);
  set.add(salt, 9, "salt", "CC.CC", {0, 0});
  write_store(folder / "a.h5", set);
  const Store store(folder / "a.h5");
  expect_same_pairs(set, store);
  EXPECT_EQ(store.pairs(1).topology[1 * 7 + 4], kUnreachable);
}

TEST(Store, KeepsInputColumns) {
  const Folder folder;
  MoleculeSet set = make_set({4, 7});
  set.input_names = {"logD", "pKa"};
  set.inputs = {0.5f, std::nanf(""), -3, 7};
  {
    StoreWriter writer(folder / "a.h5", set.featurizer, set.task, set.source, {.input_names = set.input_names});
    for (std::int64_t g = 0; g < 2; ++g)
      writer.add(make_graph(Features::ogb, g == 0 ? 4 : 7, 0), g, "", "C", {0, 0},
                 {set.inputs.begin() + 2 * g, set.inputs.begin() + 2 * g + 2});
    writer.finish();
  }
  const MoleculeSet loaded = Store(folder / "a.h5").load();
  EXPECT_EQ(loaded.input_names, set.input_names);
  ASSERT_EQ(loaded.inputs.size(), 4u);
  EXPECT_TRUE(std::isnan(loaded.inputs[1]));
  EXPECT_EQ(loaded.inputs[2], -3);
  EXPECT_EQ(loaded.graph(1).inputs[1], 7);
  EXPECT_EQ(loaded.graph(1).num_inputs, 2);
}

TEST(Store, MayHaveNoMoleculesAndNoTargets) {
  const Folder folder;
  MoleculeSet set;
  write_store(folder / "empty.h5", set);
  expect_same(set, Store(folder / "empty.h5").load());
  set.add(make_graph(Features::ogb, 1, 0), 0, "", "", {});
  write_store(folder / "one.h5", set);
  expect_same(set, Store(folder / "one.h5").load());
}

TEST(Store, KeepsClasses) {
  const Folder folder;
  MoleculeSet set;
  set.task = {TaskKind::multiclass, {"colour"}, {""}, 3, {"red", "green", "blue"}};
  for (int g = 0; g < 3; ++g) set.add(make_graph(Features::ogb, 3, 0), g, "", "C", {static_cast<double>(g)});
  write_store(folder / "a.h5", set);
  expect_same(set, Store(folder / "a.h5").load());
}

TEST(Store, IsTheSameForAnyNumberOfThreads) {
  const Folder folder;
  const MoleculeSet set = make_set(ragged_sizes());
  StoreWriterOptions options;
  options.chunk = 512;  // many more chunks than the queue holds
  std::vector<std::string> bytes, created;
  // Only the time of creation may differ. Repeat if the second has changed.
  do {
    bytes.clear();
    created.clear();
    for (const int threads : {1, 2, 7}) {
      options.threads = threads;
      write_store(folder / "a.h5", set, options);
      bytes.push_back(read_file(folder / "a.h5"));
      created.push_back(Store(folder / "a.h5").summary().created);
    }
  } while (created.front() != created.back());
  EXPECT_TRUE(bytes[0] == bytes[1]);
  EXPECT_TRUE(bytes[0] == bytes[2]);
}

TEST(Store, LeavesNoFileIfUnfinished) {
  const Folder folder;
  const MoleculeSet set = make_set(ragged_sizes());
  {
    StoreWriter writer(folder / "a.h5", set.featurizer, set.task, set.source, {true, 2, 64});
    fill(writer, set);
    EXPECT_EQ(writer.size(), set.size());
    EXPECT_FALSE(std::filesystem::exists(folder / "a.h5"));
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Store, KeepsTheOldFileUntilTheNewOneIsComplete) {
  const Folder folder;
  const MoleculeSet old_set = make_set({3}), set = make_set({4, 5});
  write_store(folder / "a.h5", old_set);
  const Store open_store(folder / "a.h5");
  {
    StoreWriter writer(folder / "a.h5", set.featurizer, set.task, set.source);
    fill(writer, set);
    expect_same(old_set, Store(folder / "a.h5").load());
    writer.finish();
  }
  expect_same(set, Store(folder / "a.h5").load());
  expect_same(old_set, open_store.load());  // an open store still reads the old file
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Store, WriteErrorsNameTheReason) {
  const Folder folder;
  const MoleculeSet set = make_set({3});
  EXPECT_NE(file_error([&] { write_store(folder / "no/such/folder/a.h5", set); }).find("No such file"),
            std::string::npos);
  EXPECT_NE(file_error([&] { write_store(folder / "", set); }).find("folder"), std::string::npos);
  EXPECT_NE(file_error([&] { write_store("/dev/null", set); }).find("not a regular file"), std::string::npos);
  StoreWriter writer(folder / "a.h5", set.featurizer, set.task, set.source);
  EXPECT_THROW(writer.split("a/b", {}), UsageError);
}

TEST(Store, FullDiskIsAnError) {
  const Folder folder;
  const MoleculeSet set = make_set(ragged_sizes());
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);  // write() then fails as on a full disk
  for (const rlim_t most : {100, 5'000, 20'000, 60'000}) {
    const rlimit limit{most, old_limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string message;
    try {
      write_store(folder / "a.h5", set, {true, 2, 4096});
    } catch (const FileError& error) {
      message = error.what();
    }
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_NE(message.find(folder / "a.h5"), std::string::npos) << "limit " << most << ": " << message;
    EXPECT_EQ(folder.files(), 0u);
  }
  std::signal(SIGXFSZ, old_handler);
  write_store(folder / "a.h5", set);  // the library is still usable
  expect_same(set, Store(folder / "a.h5").load());
}

TEST(Store, CanBeMovedAndReadByManyThreads) {
  const Folder folder;
  const MoleculeSet set = make_set(ragged_sizes());
  write_store(folder / "a.h5", set, {true, 2, 300});
  Store first(folder / "a.h5");
  const Store store(std::move(first));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      expect_same_pairs(set, store);
      expect_same(set, store.load());
      expect_same(set, Store(folder / "a.h5").load());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THROW(store.pairs(set.size()), UsageError);
  EXPECT_THROW(store.pairs(-1), UsageError);
}

TEST(Store, IsDistinguishedFromOtherFiles) {
  const Folder folder;
  write_store(folder / "a.h5", make_set({3}));
  write_file_atomically(folder / "b.csv", "smiles\nC\n");
  EXPECT_TRUE(looks_like_store(folder / "a.h5"));
  EXPECT_FALSE(looks_like_store(folder / "b.csv"));
  EXPECT_FALSE(looks_like_store(folder / "missing"));
  EXPECT_FALSE(looks_like_store(folder / ""));
  EXPECT_NE(file_error([&] { use_store(folder / "b.csv"); }).find("b.csv: not a molgraph store"), std::string::npos);
  EXPECT_NE(file_error([&] { use_store(folder / "missing"); }).find("No such file"), std::string::npos);
}

TEST(ChunkCodec, ChecksumsMatchPublishedTestVectors) {
  // Test vectors of Fletcher-32 for little-endian words. Their bytes are swapped in pairs because HDF5 reads big-endian
  // words.
  const auto of = [](std::string_view text) { return fletcher32(std::as_bytes(std::span(text.data(), text.size()))); };
  EXPECT_EQ(of("badcfe"), 0x56502D2Au);    // "abcdef"
  EXPECT_EQ(of("badcfehg"), 0xEBE19591u);  // "abcdefgh"
  EXPECT_EQ(of(""), 0u);
  EXPECT_EQ(of(std::string(8, '\0')), 0u);
  EXPECT_EQ(of("\xFF\xFF"), 0xFFFFFFFFu);  // a multiple of 65,535 that is not 0
}

TEST(ChunkCodec, RoundTripsAndDetectsDamage) {
  std::mt19937 random(1);
  for (const std::size_t element : {1u, 2u, 4u, 8u}) {
    for (const std::size_t elements : {1u, 3u, 4096u, 100'001u}) {
      std::vector<std::byte> raw(element * elements), back(raw.size());
      for (std::byte& byte : raw) byte = static_cast<std::byte>(random() % 5 * 50);
      std::vector<std::byte> packed = encode_chunk(raw, element);
      EXPECT_LE(packed.size(), max_encoded_bytes(raw.size()));
      EXPECT_TRUE(decode_chunk(packed, element, back));
      EXPECT_EQ(raw, back);
      std::vector<std::byte> other(raw.size() + element);
      EXPECT_FALSE(decode_chunk(packed, element, other));
      packed[packed.size() / 2] ^= std::byte{4};
      EXPECT_FALSE(decode_chunk(packed, element, back));
      EXPECT_FALSE(decode_chunk({}, element, back));
    }
  }
}

TEST(Files, HashesAndWrites) {
  const Folder folder;
  write_file_atomically(folder / "a", "abc");
  EXPECT_EQ(read_file(folder / "a"), "abc");
  EXPECT_EQ(sha256_of_file(folder / "a"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-2, B.1
  std::filesystem::create_symlink(folder / "a", folder / "link");
  write_file_atomically(folder / "link", "x");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "a"), "x");
  EXPECT_EQ(folder.files(), 2u);
  EXPECT_NE(file_error([&] { read_file(folder / "b"); }).find(folder / "b"), std::string::npos);
  EXPECT_NE(file_error([&] { sha256_of_file(folder / ""); }).find("not a regular file"), std::string::npos);
  EXPECT_NE(file_error([&] { write_file_atomically("", "x"); }).find("empty"), std::string::npos);
}

}  // namespace
}  // namespace molgraph
