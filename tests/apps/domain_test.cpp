// The applicability domain: searches compared with exhaustive search, hand-computed places, and the file.
#include "apps/scoring/domain.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <random>

#include "apps/scoring/domain_file.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"
#include "featurize/graph/ring_systems.hpp"
#include "featurize/smiles/smiles.hpp"
#include "grpe/architecture.hpp"

namespace molgraph {
namespace {

FingerprintBits random_bits(std::mt19937& draw, int most) {
  FingerprintBits bits{};
  const int count = std::uniform_int_distribution<int>(0, most)(draw);
  for (int k = 0; k < count; ++k) {
    const auto bin = static_cast<std::size_t>(std::uniform_int_distribution<int>(0, 2047)(draw));
    bits[bin / 64] |= std::uint64_t{1} << (bin % 64);
  }
  return bits;
}

double tanimoto(const FingerprintBits& a, const FingerprintBits& b) {
  int both = 0, either = 0;
  for (std::size_t w = 0; w < a.size(); ++w) both += std::popcount(a[w] & b[w]), either += std::popcount(a[w] | b[w]);
  return either > 0 ? static_cast<double>(both) / either : 0;
}

TEST(FingerprintIndex, MatchesExhaustiveSearch) {
  std::mt19937 draw(5);
  for (const int most : {0, 6, 60, 1500}) {
    std::vector<FingerprintBits> molecules;
    for (int k = 0; k < 700; ++k) molecules.push_back(random_bits(draw, most));
    const FingerprintIndex index(molecules);
    ASSERT_EQ(index.size(), molecules.size());
    for (int q = 0; q < 200; ++q) {
      FingerprintBits query = random_bits(draw, most);
      if (q % 4 == 0) query = molecules[static_cast<std::size_t>(q)];
      if (q % 4 == 1) query[0] |= molecules[static_cast<std::size_t>(q)][0];
      SimilarMolecule best{-1, 0};
      for (std::size_t k = 0; k < molecules.size(); ++k)
        if (const double similarity = tanimoto(query, molecules[k]); similarity > best.similarity)
          best = {similarity, k};
      const SimilarMolecule found = index.most_similar(query);
      EXPECT_DOUBLE_EQ(found.similarity, best.similarity) << most;
      EXPECT_EQ(found.index, best.index) << most;  // tie: the first
    }
  }
}

TEST(NearestOthers, ExcludeTheRowItself) {
  NearestRows rows(2);
  for (const auto& [x, y] : {std::pair(0.0F, 0.0F), {3.0F, 4.0F}, {0.0F, 1.0F}, {3.0F, 4.0F}}) rows.add({{x, y}});
  rows.finish();
  const std::vector<std::size_t> all{0, 1, 2, 3};
  const auto found = rows.find_others(all);
  EXPECT_EQ(found[0].index, 2u);
  EXPECT_EQ(found[0].distance, 1);
  EXPECT_EQ(found[1].index, 3u);
  EXPECT_EQ(found[1].distance, 0);
  EXPECT_EQ(found[3].index, 1u);
  EXPECT_EQ(found[2].index, 0u);
}

TEST(NearestOthers, AreNoneForASingleRow) {
  NearestRows rows(3);
  rows.add({{1.0F, 2.0F, 3.0F}});
  rows.finish();
  EXPECT_TRUE(std::isinf(rows.find_others(std::vector<std::size_t>{0})[0].distance));
}

TEST(NearestOthers, AreFoundAcrossBlocks) {
  NearestRows rows(1);
  for (int k = 0; k < 2500; ++k) rows.add({{static_cast<float>(2 * k + (k == 1024 ? -1 : 0))}});
  rows.finish();
  const auto found = rows.find_others(std::vector<std::size_t>{1023, 1024, 2499});
  EXPECT_EQ(found[0].index, 1024u);
  EXPECT_EQ(found[0].distance, 1);
  EXPECT_EQ(found[1].index, 1023u);
  EXPECT_EQ(found[2].index, 2498u);
  EXPECT_EQ(found[2].distance, 2);
}

MolecularGraph graph_of(const std::string& smiles) {
  return std::get<MolecularGraph>(
      Featurizer({.features = Features::molgraph}, {}, {.fingerprint = true}).smiles(smiles));
}

/// Ethanol at (0, 0), toluene at (2, 0), pyridine at (0, 1); steps of 0.5 and 0.25.
Domain three_molecules() {
  Domain domain{.space = {.width = 2, .center = {}, .projection = {}, .step = {0.5F, 0.25F}}};
  domain.embeddings = {0, 0, 4, 0, 0, 4};
  for (const char* smiles : {"CCO", "Cc1ccccc1", "c1ccncc1"}) {
    const MolecularGraph graph = graph_of(smiles);
    domain.bits.push_back(bits_of(graph.fingerprint));
    for (const std::uint64_t system : ring_systems(graph.view())) domain.ring_systems.push_back(system);
  }
  std::ranges::sort(domain.ring_systems);
  const auto columns = static_cast<std::size_t>(feature_shape(Features::molgraph).atom_columns);
  for (const char* smiles : {"C", "N", "O"}) domain.atom_kinds.push_back(graph_of(smiles).atoms[0 * columns]);
  std::ranges::sort(domain.atom_kinds);
  domain.own_distances = {1, 1, 2};
  return domain;
}

DomainPlace place_of(const DomainIndex& index, const std::string& smiles, const std::vector<float>& embedding) {
  const MolecularGraph graph = graph_of(smiles);
  return index.places(std::vector<DomainIndex::Query>{{graph.view(), graph.fingerprint, embedding}})[0];
}

TEST(DomainIndex, PlacesMatchHandCalculation) {
  const DomainIndex index(three_molecules());
  const DomainPlace itself = place_of(index, "OCC", {0, 0});
  EXPECT_EQ(itself.similarity, 1);
  EXPECT_EQ(itself.nearest, 0u);
  EXPECT_EQ(itself.percentile, 0);
  EXPECT_TRUE(itself.elements_seen && itself.rings_seen);

  // The distance to toluene is 1.5, which exceeds the own distances 1 and 1.
  const DomainPlace xylene = place_of(index, "Cc1ccc(C)cc1", {2, 1.5F});
  EXPECT_EQ(xylene.nearest, 1u);
  EXPECT_GT(xylene.similarity, 0.4);
  EXPECT_LT(xylene.similarity, 1);
  EXPECT_NEAR(xylene.percentile, 200.0 / 3, 1e-9);
  EXPECT_TRUE(xylene.rings_seen);

  // The distance to toluene is 1, which equals the own distances 1 and 1 but does not exceed them.
  EXPECT_EQ(place_of(index, "CCO", {3, 0}).percentile, 0);

  const DomainPlace strange = place_of(index, "C1CCCCC1Br", {50, 50});
  EXPECT_EQ(strange.percentile, 100);
  EXPECT_FALSE(strange.elements_seen);
  EXPECT_FALSE(strange.rings_seen);
  EXPECT_TRUE(place_of(index, "c1ccccc1-c1ccncc1", {0, 0}).rings_seen);
  EXPECT_FALSE(place_of(index, "c1ccc2ncccc2c1", {0, 0}).rings_seen);
  EXPECT_TRUE(place_of(index, "c1ccc2ncccc2c1", {0, 0}).elements_seen);
}

TEST(DomainIndex, BatchEqualsSingleQueries) {
  const DomainIndex index(three_molecules());
  const std::vector<std::string> smiles{"CCN", "CO", "c1ccccc1", "BrBr", "Cc1ccccn1"};
  std::vector<MolecularGraph> graphs;
  std::vector<std::vector<float>> embeddings;
  for (std::size_t k = 0; k < smiles.size(); ++k) {
    graphs.push_back(graph_of(smiles[k]));
    embeddings.push_back({0.4F * static_cast<float>(k), 1 - 0.3F * static_cast<float>(k)});
  }
  std::vector<DomainIndex::Query> queries;
  for (std::size_t k = 0; k < smiles.size(); ++k)
    queries.push_back({graphs[k].view(), graphs[k].fingerprint, embeddings[k]});
  const auto together = index.places(queries);
  for (std::size_t k = 0; k < smiles.size(); ++k) {
    const DomainPlace alone = place_of(index, smiles[k], embeddings[k]);
    EXPECT_EQ(together[k].similarity, alone.similarity);
    EXPECT_EQ(together[k].nearest, alone.nearest);
    EXPECT_EQ(together[k].percentile, alone.percentile);
  }
}

TEST(DomainSpace, ProjectsAndClampsToTheRange) {
  const DomainSpace space{.width = 3, .center = {1, 1, 1}, .projection = {0, 1, 0, 0.6F, 0, 0.8F}, .step = {0.1F, 1}};
  const std::vector<float> embedding{6, 3, 11};
  std::int8_t stored[2];
  space.quantise(embedding, stored);
  EXPECT_EQ(stored[0], 20);
  EXPECT_EQ(stored[1], 11);  // 0.6 * 5 + 0.8 * 10
  space.quantise(std::vector<float>{1, -900, 1}, stored);
  EXPECT_EQ(stored[0], -127);
  float place[2];
  space.dequantise(stored, place);
  EXPECT_FLOAT_EQ(place[0], -12.7F);
}

class DomainFile : public ::testing::Test {
 protected:
  DomainFile() {
    config.model.encoder.width = 2;
    config.task.names = {"y"};
    config.featurizer.features = Features::molgraph;
    path = ::testing::TempDir() + "domain_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
           ".safetensors";
  }
  ~DomainFile() override { std::filesystem::remove(path); }
  std::string problem() {
    try {
      read_domain(path, config);
    } catch (const FileError& error) {
      return error.what();
    }
    return {};
  }
  ModelConfig config;
  std::string path;
};

TEST_F(DomainFile, IsReadAsWritten) {
  Domain domain = three_molecules();
  domain.labels = DomainLabels{{"a", "", "c,\""}, {"CCO", "Cc1ccccc1", "c1ccncc1"}, {1, NAN, -3.25}};
  write_domain(path, domain, config.featurizer);
  const Domain read = read_domain(path, config);
  EXPECT_EQ(read.embeddings, domain.embeddings);
  EXPECT_EQ(read.bits, domain.bits);
  EXPECT_EQ(read.own_distances, domain.own_distances);
  EXPECT_EQ(read.atom_kinds, domain.atom_kinds);
  EXPECT_EQ(read.ring_systems, domain.ring_systems);
  EXPECT_EQ(read.space.step, domain.space.step);
  EXPECT_EQ(read.labels->ids, domain.labels->ids);
  EXPECT_EQ(read.labels->smiles, domain.labels->smiles);
  EXPECT_EQ(read.labels->values[2], -3.25);
  EXPECT_TRUE(std::isnan(read.labels->values[1]));
  EXPECT_EQ(domain_summary(path).molecules, 3);
  EXPECT_TRUE(domain_summary(path).labels);
}

TEST_F(DomainFile, ContainsNoSmilesWithoutLabels) {
  write_domain(path, three_molecules(), config.featurizer);
  EXPECT_FALSE(read_domain(path, config).labels.has_value());
  EXPECT_FALSE(domain_summary(path).labels);
  EXPECT_EQ(read_file(path).find("c1ccncc1"), std::string::npos);
}

TEST_F(DomainFile, FailsIfInconsistentOrOfAnotherModel) {
  const auto problem_with = [&](const auto& change) {
    Domain domain = three_molecules();
    change(domain);
    write_domain(path, domain, config.featurizer);
    return problem();
  };
  EXPECT_EQ(problem_with([](Domain&) {}), "");
  EXPECT_NE(problem_with([](Domain& d) { d.space.width = 3; }).find("another width"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.embeddings.pop_back(); }).find("number of embeddings"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.space.step[0] = 0; }).find("space"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.space.step.push_back(1); }).find("axes"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.space.projection = {1, 0, 0}; }).find("projection"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.own_distances = {2, 1}; }).find("distances"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.own_distances = {NAN}; }).find("distances"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { std::ranges::reverse(d.ring_systems); }).find("order"), std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) { d.bits.clear(), d.embeddings.clear(); }).find("no molecule"),
            std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) {
              d.labels = DomainLabels{{"a"}, {"C"}, {1}};
            }).find("labels"),
            std::string::npos);
  EXPECT_NE(problem_with([](Domain& d) {
              d.labels = DomainLabels{{"a", "b", "c"}, {"C", "C", "C"}, {1, INFINITY, 2}};
            }).find("infinite"),
            std::string::npos);
  config.featurizer.features = Features::ogb;
  EXPECT_EQ(problem_with([](Domain&) {}), "");
  config.featurizer.features = Features::molgraph;
  EXPECT_NE(problem().find("another featuriser"), std::string::npos);
}

}  // namespace
}  // namespace molgraph
