// Small copies of the folders in which data sets are published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "datasets/archives/torch_archive.hpp"
#include "datasets/catalogue/catalogue.hpp"
#include "datasets/load.hpp"
#include "datasets/store/store.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using testing::gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::ScratchFolder;
using ::testing::SizeIs;

using Parts = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

class LayoutTest : public ::testing::Test {
 protected:
  LoadOptions named(const std::string& name, const std::string& subset = "") {
    LoadOptions options;
    options.paths = {name};
    options.subset = subset;
    options.data_dir = folder.file("");
    return options;
  }

  /// Folder of OGB-LSC. The labels of the test sets are hidden.
  void write_lsc(const std::string& name, const Parts& parts) {
    folder.write(
        name + "/raw/data.csv.gz",
        gzip("idx,smiles,homolumogap\n0,CC,1.5\n1,CCO,2.5\n2,c1ccccc1,3.5\n3,CCN,4.5\n4,O=C=O,\n5,CO,\n6,CCC,\n"));
    std::vector<TensorView> tensors;
    for (const auto& [part, rows] : parts)
      tensors.push_back({part, DType::i64, {static_cast<std::int64_t>(rows.size())}, rows.data()});
    write_state_dict(folder.file(name + "/split_dict.pt"), tensors);
  }

  ScratchFolder folder;
};

const Parts kParts{{"train", {0, 1, 2}}, {"valid", {3}}, {"test-dev", {4, 6}}, {"test-challenge", {5}}};

TEST_F(LayoutTest, LoadsTheOgbLscFolder) {
  write_lsc("pcqm4m-v2", kParts);
  const LoadedData data = load_data(named("PCQM4Mv2", "partial"));
  EXPECT_EQ(data.set.size(), 7);
  EXPECT_EQ(data.split_name, "published");
  EXPECT_THAT(data.split.train, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.split.valid, ElementsAre(3));
  EXPECT_THAT(data.split.test, ElementsAre(4, 6));
  EXPECT_THAT(data.set.splits.at("test-dev").test, ElementsAre(4, 6));
  EXPECT_THAT(data.set.splits.at("test-challenge").test, ElementsAre(5));
  EXPECT_THAT(data.set.task.units, ElementsAre("eV"));
  EXPECT_FLOAT_EQ(data.set.targets[3], 4.5f);
  EXPECT_TRUE(std::isnan(data.set.targets[4]));
  EXPECT_THAT(data.set.id, ElementsAre("0", "1", "2", "3", "4", "5", "6"));

  EXPECT_THAT(data.hidden_parts.at("test-dev"), ElementsAre(4, 6));
  LoadOptions limited = named("pcqm4mv2", "partial");
  limited.limit = 4;
  EXPECT_THAT(load_data(limited).hidden_parts, IsEmpty()) << "a truncated test set is not a submission";

  LoadOptions inside = named("pcqm4mv2", "partial");
  inside.data_dir = folder.file("pcqm4m-v2");
  EXPECT_EQ(load_data(inside).set.size(), 7) << "data_dir may be the folder itself";

  const std::string store = folder.file("lsc.h5");
  load_to_store(named("pcqm4mv2", "partial"), store);
  LoadOptions stored;
  stored.paths = {store};
  const LoadedData again = load_data(stored);
  EXPECT_EQ(again.split.test, data.split.test);
  EXPECT_EQ(again.set.splits.at("test-challenge").test, data.set.splits.at("test-challenge").test);
  EXPECT_EQ(again.hidden_parts, data.hidden_parts);
}

TEST_F(LayoutTest, InvalidHiddenRowsKeepTheirPosition) {
  write_lsc("pcqm4m-v2", kParts);
  folder.write("pcqm4m-v2/raw/data.csv.gz",
               gzip("idx,smiles,homolumogap\n0,CC,1.5\n1,CCO,2.5\n2,C,3.5\n3,CCN,4.5\n4,C1CC,\n5,CO,\n6,CCC,\n"));
  EXPECT_THAT(load_data(named("pcqm4mv2", "partial")).hidden_parts.at("test-dev"), ElementsAre(-1, 5));
  const std::string store = folder.file("lsc.h5");
  load_to_store(named("pcqm4mv2", "partial"), store);
  LoadOptions stored;
  stored.paths = {store};
  const LoadedData again = load_data(stored);
  EXPECT_THAT(again.hidden_parts, IsEmpty());
  EXPECT_THAT(again.warnings, ::testing::Contains(HasSubstr("no submission is written")));
}

TEST_F(LayoutTest, InvalidOgbLscFoldersAreErrors) {
  write_lsc("pcqm4m-v2", kParts);
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("pcqm4mv2")); }),
              AllOf(HasSubstr("3378606"), HasSubstr("--subset partial")));
  write_lsc("pcqm4m-v2", {{"train", {0, 1}}, {"valid", {1}}});
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("pcqm4mv2", "partial")); }), HasSubstr("row 1 of 'valid'"));
  write_lsc("pcqm4m-v2", {{"train", {0, 7}}});
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("pcqm4mv2", "partial")); }), HasSubstr("has 7 rows"));
  write_lsc("pcqm4m-v2", {{"train", {0}}, {"odd", {1}}});
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("pcqm4mv2", "partial")); }),
              HasSubstr("'odd' of the split is unknown"));
  folder.write("pcqm4m-v2/split_dict.pt", "no archive");
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("pcqm4mv2", "partial")); }), HasSubstr("split_dict.pt"));
}

TEST_F(LayoutTest, OgbFolderOfAnotherSizeIsAnError) {
  folder.write("ogbg_molpcba/mapping/mol.csv.gz",
               gzip("PCBA-1030,PCBA-1379,smiles,mol_id\n1,,CC,m1\n0,1,CO,m2\n,0,CN,m3\n"));
  for (const char* part : {"train", "valid", "test"})
    folder.write("ogbg_molpcba/split/scaffold/" + std::string(part) + ".csv.gz",
                 gzip(part[0] == 't' && part[1] == 'r' ? "0\n"
                      : part[0] == 'v'                 ? "1\n"
                                                       : "2\n"));
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("ogbg-molpcba")); }), HasSubstr("350343"));
  EXPECT_THAT(message_of<FileError>([&] { load_data(named("molhiv")); }), HasSubstr("is not on this machine"))
      << "the folder of another data set is not used";
}

TEST_F(LayoutTest, MoleculeNetTablesAreSplitByScaffold) {
  folder.write("delaney-processed.csv",
               "Compound ID,ESOL predicted log solubility in mols per litre,Molecular Weight,"
               "measured log solubility in mols per litre,smiles\n"
               "a,1,2,-1.5,CC\nb,1,2,-2.5,CCO\nc,1,2,-3.5,c1ccccc1\nd,1,2,-4.5,c1ccccc1C\ne,1,2,-0.5,C1CC1\n");
  const LoadedData esol = load_data(named("ESOL"));
  EXPECT_EQ(esol.split_name, "scaffold");
  EXPECT_THAT(esol.set.targets, ElementsAre(-1.5f, -2.5f, -3.5f, -4.5f, -0.5f));
  EXPECT_THAT(esol.split.train, SizeIs(4));
  folder.write(
      "bace.csv",
      "mol,CID,Class,Model,pIC50\nCCO,x,1,Train,5.0\nCCN,y,0,Valid,6.0\nC1CC1,z,0,Test,7.0\nC1CCC1,z,1,Test,8.0\n");
  const LoadedData bace = load_data(named("bace"));
  EXPECT_THAT(bace.set.smiles, ElementsAre("CCO", "CCN", "C1CC1", "C1CCC1"));
  EXPECT_THAT(bace.set.task.names, ElementsAre("Class"));
  LoadOptions random = named("bace");
  random.split = SplitKind::random;
  EXPECT_EQ(load_data(random).split_name, "random");
  random.split = SplitKind::order;
  EXPECT_THAT(load_data(random).split.test, ElementsAre(3));
}

TEST_F(LayoutTest, AcceptsCommonSpellingsOfNames) {
  for (const auto& [typed, name] : std::vector<std::pair<std::string, std::string>>{{"ogbg-molhiv", "molhiv"},
                                                                                    {"ogbg_molhiv", "molhiv"},
                                                                                    {"HIV", "molhiv"},
                                                                                    {"PCQM4Mv2", "pcqm4mv2"},
                                                                                    {"PCQM4M-v2", "pcqm4mv2"},
                                                                                    {"pcqm4m", "pcqm4m"},
                                                                                    {"zinc-full", "zinc"},
                                                                                    {"ZINC_12k", "zinc"},
                                                                                    {"Tox21", "tox21"},
                                                                                    {"lipophilicity", "lipo"},
                                                                                    {"ogbg-molpcba", "molpcba"},
                                                                                    {"nothing", ""},
                                                                                    {"zinc.csv", ""}})
    EXPECT_EQ(dataset_name(typed), name) << typed;
  const std::string full = message_of<FileError>([&] { load_data(named("zinc-full")); });
  EXPECT_THAT(full, HasSubstr("zinc_full/zinc_full.csv.gz"));
}

/// MolHIV in the layout of OGB's folder, made from the real files.
TEST_F(LayoutTest, LoadsMolhivFromTheOgbFolder) {
  const char* data = std::getenv("MOLGRAPH_DATA");
  if (data == nullptr) GTEST_SKIP() << "MOLGRAPH_DATA is not set: real data sets are not on this machine";
  const std::string source = std::string(data) + "/molhiv/";
  TableReader table(source + "molhiv.csv.gz", {});
  std::string text = "HIV_active,smiles,mol_id\n";
  for (TableRow row; table.next(row); row = {})
    text += row.cells[2] + "," + row.cells[1] + ",CHEMBL" + row.cells[0] + "\n";
  folder.write("ogbg_molhiv/mapping/mol.csv.gz", gzip(text));
  std::filesystem::create_directories(folder.file("ogbg_molhiv/split/scaffold"));
  for (const char* part : {"train", "valid", "test"})
    std::filesystem::copy(source + "split/" + part + ".csv",
                          folder.file("ogbg_molhiv/split/scaffold/" + std::string(part) + ".csv"));
  LoadOptions options = named("ogbg-molhiv");
  options.limit = 500;
  const LoadedData from_folder = load_data(options);
  options = named("molhiv");
  options.data_dir = data;
  options.limit = 500;
  const LoadedData expected = load_data(options);
  EXPECT_EQ(from_folder.set.smiles, expected.set.smiles);
  EXPECT_EQ(from_folder.set.targets, expected.set.targets);
  EXPECT_EQ(from_folder.split.test, expected.split.test);
}

}  // namespace
}  // namespace molgraph
