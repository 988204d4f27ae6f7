// Real-world tables: salts, solvents and duplicate molecules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/shell.hpp"
#include "tests/support/places.hpp"

namespace molgraph {
namespace {

using test::cells_of;
using test::lines_of;
using test::Scratch;
using test::ShellResult;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTiny =
    " --layers 1 --width 8 --ffn 8 --heads 2 --threads 1 --epochs 1 --no-blend --no-baselines ";

class MessyCli : public ::testing::Test {
 protected:
  ShellResult run(const std::string& command) const { return scratch.run(test::bin_dir(), command); }
  /// The third cell of the row with this id, which is the prediction.
  std::string prediction(const std::string& file, const std::string& id) const {
    for (const std::string& line : lines_of(scratch.read(file)))
      if (const auto cells = cells_of(line); cells[0] == id) return cells.at(2);
    ADD_FAILURE() << file << " has no row " << id;
    return {};
  }
  Scratch scratch;
};

/// Salts of amines, salts of acids, and hydrates of alcohols.
std::string salts() {
  std::string text = "id,smiles,y\n";
  for (int r = 0; r < 30; ++r) {
    const std::string chain(static_cast<std::size_t>(r / 3 + 1), 'C');
    const std::string forms[] = {chain + "[NH3+].[Cl-]", "[Na+]." + chain + "C([O-])=O", chain + "O.O"};
    text += "m" + std::to_string(r) + "," + forms[r % 3] + "," + std::to_string(r) + ".5\n";
  }
  return text;
}

TEST_F(MessyCli, SaltsScoreAsTheirParents) {
  scratch.write("salts.csv", salts());
  scratch.write("new.csv", "id,smiles\na,CCO\nb,CCO.Cl\nc,CC([O-])=O.[K+]\nd,CC(O)=O\ne,[CH5+]\n");
  const ShellResult trained = run("molgraph-train salts.csv -o P --standardize parent" + std::string(kTiny));
  ASSERT_EQ(trained.code, 0) << trained.err;
  ASSERT_EQ(run("molgraph-train salts.csv -o N" + std::string(kTiny)).code, 0);
  EXPECT_THAT(scratch.read("P/config.toml"), HasSubstr("standardize = 'parent'"));
  EXPECT_THAT(scratch.read("N/config.toml"), HasSubstr("standardize = 'none'"));
  const ShellResult scored = run("molgraph-score -m P -i new.csv -o p.csv");
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.err, HasSubstr("--standardize parent"));
  EXPECT_EQ(prediction("p.csv", "a"), prediction("p.csv", "b"));
  EXPECT_EQ(prediction("p.csv", "c"), prediction("p.csv", "d"));
  EXPECT_NE(prediction("p.csv", "a"), prediction("p.csv", "c"));
  EXPECT_THAT(scratch.read("p.csv"), HasSubstr("b,CCO.Cl,")) << "the input is not changed";
  EXPECT_THAT(scratch.read("p.csv"), HasSubstr("e,[CH5+],,invalid_smiles,\"no parent structure: "));
  const ShellResult plain = run("molgraph-score -m N -i new.csv -o n.csv");
  EXPECT_THAT(plain.err, Not(HasSubstr("standardize")));
  EXPECT_NE(prediction("n.csv", "a"), prediction("n.csv", "b"));
  ASSERT_EQ(run("molgraph-embed -m P -i new.csv -o p.tsv").code, 0);
  const auto vectors = lines_of(scratch.read("p.tsv"));
  EXPECT_EQ(cells_of(vectors[1], '\t')[2], cells_of(vectors[2], '\t')[2]);
  // The nearest training molecule of a parent is its salt, at distance 0.
  ASSERT_EQ(run("molgraph-score -m P -i new.csv -o near.csv --nearest salts.csv").code, 0);
  EXPECT_THAT(scratch.read("near.csv"), HasSubstr("a,CCO," + prediction("p.csv", "a") + ",0,m5,ok,"));
  EXPECT_THAT(run("molgraph-info P").out, HasSubstr("without salts and solvents"));
  EXPECT_THAT(run("molgraph-info N").out, Not(HasSubstr("without salts")));
  EXPECT_THAT(run("molgraph-info P --json").out, HasSubstr("\"standardize\": \"parent\""));
  EXPECT_EQ(run("molgraph-score -m P -m N -i new.csv -o both.csv").code, 4)
      << "the runs standardise molecules differently";
}

TEST_F(MessyCli, StoresAndFineTunedRunsKeepTheStandardisation) {
  scratch.write("salts.csv", salts());
  ASSERT_EQ(run("molgraph-featurize salts.csv -o p.h5 --standardize parent").code, 0);
  EXPECT_THAT(run("molgraph-info p.h5 --json").out, HasSubstr("\"standardize\": \"parent\""));
  const ShellResult stored = run("molgraph-train p.h5 -o S" + std::string(kTiny));
  ASSERT_EQ(stored.code, 0) << stored.err;
  ASSERT_EQ(run("molgraph-train salts.csv -o P --standardize parent" + std::string(kTiny)).code, 0);
  EXPECT_EQ(scratch.read("S/model.safetensors"), scratch.read("P/model.safetensors"))
      << "training from a store gives the same model";
  const ShellResult other = run("molgraph-train p.h5 -o X --standardize none" + std::string(kTiny));
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("was created with --standardize parent, not none"));
  ASSERT_EQ(run("molgraph-train salts.csv -o F --from P --epochs 1 --threads 1").code, 0);
  EXPECT_THAT(scratch.read("F/config.toml"), HasSubstr("standardize = 'parent'"));
  const ShellResult contradicted = run("molgraph-train salts.csv -o Y --from P --standardize none --epochs 1");
  EXPECT_EQ(contradicted.code, 2);
  EXPECT_THAT(contradicted.err, AllOf(HasSubstr("--standardize none contradicts P"), HasSubstr("trained on parent")));
}

/// Forty alcohols. Every fourth one has a duplicate with another SMILES and a label that is 2 higher.
std::string duplicates() {
  std::string text = "id,smiles,y\n";
  for (int r = 1; r <= 40; ++r) {
    const std::string chain(static_cast<std::size_t>(r), 'C');
    text += "m" + std::to_string(r) + "," + chain + "O," + std::to_string(r) + "\n";
    if (r % 4 == 0) text += "again" + std::to_string(r) + ",O" + chain + "," + std::to_string(r + 2) + "\n";
  }
  return text;
}

TEST_F(MessyCli, DuplicatesAreMergedOrStayInOneSet) {
  scratch.write("repeats.csv", duplicates());
  const ShellResult trained = run("molgraph-train repeats.csv -o M" + std::string(kTiny));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("10 duplicate molecules in 20 of 50 rows: one row each, by mean"),
                                 HasSubstr("'y' median 2.000, at most 2.000 (row 4)"), HasSubstr("40 molecules")));
  const auto listed = lines_of(scratch.read("M/duplicates.csv"));
  ASSERT_EQ(listed.size(), 21u);
  EXPECT_EQ(listed[0], "row,first,id,smiles,y,y_used");
  EXPECT_EQ(listed[1], "3,3,m4,CCCCO,4,5");
  EXPECT_EQ(listed[2], "4,3,again4,OCCCC,6,5");
  EXPECT_THAT(scratch.read("M/splits.csv"), AllOf(HasSubstr("\n3,m4,CCCCO,"), Not(HasSubstr("again"))));
  // The same from a store.
  const ShellResult stored = run("molgraph-featurize repeats.csv -o repeats.h5 --repeated listed.csv.gz");
  ASSERT_EQ(stored.code, 0) << stored.err;
  EXPECT_THAT(stored.err,
              AllOf(HasSubstr("one row each, by mean"), HasSubstr("50 rows in"), HasSubstr("40 ok, 10 duplicates")));
  EXPECT_EQ(run("zcat listed.csv.gz").out, scratch.read("M/duplicates.csv"));
  ASSERT_EQ(run("molgraph-train repeats.h5 -o S" + std::string(kTiny)).code, 0);
  EXPECT_EQ(scratch.read("S/model.safetensors"), scratch.read("M/model.safetensors"));
  EXPECT_FALSE(scratch.exists("S/duplicates.csv"));
  EXPECT_EQ(run("molgraph-train repeats.h5 -o X --duplicates mean" + std::string(kTiny)).code, 2);
  EXPECT_EQ(run("molgraph-train repeats.csv -o X --duplicates average" + std::string(kTiny)).code, 2);
  EXPECT_EQ(run("molgraph-featurize repeats.csv -o x.h5 --repeated repeats.csv").code, 2) << "the file is an input";
  EXPECT_EQ(run("molgraph-featurize repeats.csv -o x.h5 --repeated x.parquet").code, 2);
  const ShellResult kept = run("molgraph-train repeats.csv -o K --duplicates keep" + std::string(kTiny));
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_THAT(kept.err, AllOf(HasSubstr("all are kept, those of one molecule in the same set"),
                              HasSubstr("50 molecules"), Not(HasSubstr("two sets of the split"))));
  EXPECT_THAT(scratch.read("K/config.toml"), HasSubstr("duplicates = 'keep'"));
  EXPECT_THAT(scratch.read("K/splits.csv"), HasSubstr("again4"));
  const ShellResult dropped = run("molgraph-train repeats.csv -o D --duplicates drop" + std::string(kTiny));
  EXPECT_THAT(dropped.err, AllOf(HasSubstr("the first row of each is kept"), HasSubstr("40 molecules")));
  EXPECT_THAT(scratch.read("D/duplicates.csv"), HasSubstr("\n4,3,again4,OCCCC,6,4\n"));
}

}  // namespace
}  // namespace molgraph
