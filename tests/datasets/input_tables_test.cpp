// Concatenation of several tables, and continuing at any position.
#include "datasets/tables/input_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using testing::gzip;
using ::testing::HasSubstr;
using testing::message_of;
using testing::ScratchFolder;

struct RowPosition {
  InputPosition position;
  std::vector<std::string> row;  ///< content_of() of the next row; empty at the end
};

std::vector<std::string> content_of(const TableRow& row) {
  std::vector<std::string> content = row.cells;
  content.push_back(row.mol_block);
  content.push_back(row.problem);
  content.push_back(std::to_string(row.row));
  return content;
}

std::vector<RowPosition> all_positions(InputTables tables) {
  std::vector<RowPosition> positions{{tables.position(), {}}};
  for (TableRow row; tables.next(row); row = {}) {
    positions.back().row = content_of(row);
    positions.push_back({tables.position(), {}});
  }
  return positions;
}

/// Expects the same next row after seeking to a position as without seeking.
void expect_resumable(const std::vector<std::string>& inputs, std::size_t rows, bool offsets_known,
                      const TableOptions& options = {}) {
  const std::vector<RowPosition> positions = all_positions(InputTables(inputs, options));
  ASSERT_EQ(positions.size(), rows + 1);
  for (std::size_t p = 0; p < positions.size(); ++p) {
    InputTables tables(inputs, options);
    tables.seek(positions[p].position);
    EXPECT_EQ(tables.position().number, static_cast<std::int64_t>(p));
    TableRow row;
    EXPECT_EQ(tables.next(row), !positions[p].row.empty()) << p;
    if (!positions[p].row.empty()) {
      EXPECT_EQ(content_of(row), positions[p].row) << p;
    }
  }
  if (offsets_known) {
    EXPECT_GT(positions[rows].position.in_table.offset, 0) << "continuing must not read the table from its start";
  }
}

class InputTablesTest : public ::testing::Test {
 protected:
  ScratchFolder folder;
};

TEST_F(InputTablesTest, ShareOfPlainTablesIsMeasuredInBytes) {
  const std::string a = folder.write("a.csv", "smiles\nC\nCC\n"),
                    b = folder.write("b.csv", "smiles\nCCC\n");  // 12 and 11 bytes
  InputTables tables({a, b}, {});
  EXPECT_LT(tables.share_before(tables.position()), 0.4);
  std::vector<double> shares;
  for (TableRow row; tables.next(row);) shares.push_back(tables.share_before(tables.position()));
  EXPECT_THAT(shares, ElementsAre(9.0 / 23, 12.0 / 23, 1.0));
  const std::string packed = folder.write("c.csv.gz", gzip("smiles\nC\n"));
  InputTables gzipped({packed}, {});
  EXPECT_EQ(gzipped.share_before(gzipped.position()), -1) << "the length of the decompressed text is unknown";
}

TEST_F(InputTablesTest, SeeksToEveryPositionOfEveryFormat) {
  const std::string csv =
      "\xEF\xBB\xBFid,smiles\r\n1,CCO\r\n\"two\r\nlines\",C\r\n\r\n\r\n4,\"C\"\"\"\r\n5,N,surplus\r\n6,O";
  expect_resumable({folder.write("a.csv", csv)}, 7, true);
  expect_resumable({folder.write("a.csv.gz", gzip(csv.substr(0, 20)) + gzip(csv.substr(20)))}, 7, true);
  expect_resumable({folder.write("headerless.csv", "CCO,1\nC,2\nN,3\n")}, 3, true);
  expect_resumable({folder.write("a.smi", "CCO first\nC second one\n\nN\n")}, 4, true);
  expect_resumable({folder.write("mac.csv", "smiles\rCCO\rC\rN")}, 3, true);
  std::string sdf;
  for (const char* name : {"a", "b", "c"})
    sdf += std::string(name) + "\n\n\n  0  0  0  0  0  0            999 V2000\nM  END\n> <y>\n" + name + "\n\n$$$$\n";
  expect_resumable({folder.write("a.sdf", sdf)}, 3, false);
}

TEST_F(InputTablesTest, ContinuesLongTablesByOffset) {
  std::string csv = "smiles,note\n";
  for (int i = 0; i < 3000; ++i) csv += "CC,\"" + std::string(static_cast<std::size_t>(i), 'x') + "\"\n";
  for (const std::string& path : {folder.write("long.csv", csv), folder.write("long.csv.gz", gzip(csv))}) {
    InputTables tables({path}, {});
    TableRow row;
    for (int i = 0; i < 2500; ++i) ASSERT_TRUE(tables.next(row));
    const InputPosition position = tables.position();
    InputTables again({path}, {});
    again.seek(position);
    ASSERT_TRUE(again.next(row));
    EXPECT_EQ(row.cells[1].size(), 2500u) << path;
    EXPECT_EQ(row.row, 2500);
  }
}

TEST_F(InputTablesTest, ConcatenatesSeveralTables) {
  folder.write("part2.csv", "id,smiles\nx,C\n");
  folder.write("part1.csv", "smiles,id\nCCO,a\nN,b\n");
  folder.write("part3.csv", "smiles,id\n");
  folder.write("part4.csv", "smiles,id\nO,c\n");
  InputTables tables({folder.file("part*.csv")}, {});
  EXPECT_EQ(tables.tables(), 4u);
  EXPECT_THAT(tables.columns(), ElementsAre("smiles", "id"));
  std::string text;
  for (TableRow row; tables.next(row); row = {})
    text += row.cells[0] + row.cells[1] + std::to_string(row.row) + std::to_string(tables.table()) + " ";
  EXPECT_EQ(text, "CCOa00 Nb10 Cx01 Oc03 ") << "sorted by name, cells in the first table's order";
  expect_resumable({folder.file("part*.csv")}, 4, true);
}

TEST_F(InputTablesTest, IncompatibleTablesAreErrorsBeforeAnyRow) {
  const std::string a = folder.write("a.csv", "smiles,id\nC,1\n"), b = folder.write("b.csv", "smiles,y\nC,1\n");
  EXPECT_THAT(message_of<DataError>([&] {
                InputTables({a, b}, {});
              }),
              HasSubstr("b.csv: the columns are smiles, y, but those of " + a + " are smiles, id"));
  EXPECT_THAT(message_of<FileError>([&] { InputTables({folder.file("no*.csv")}, {}); }), HasSubstr("no matching file"));
  EXPECT_THAT(message_of<FileError>([&] { InputTables({a, folder.file("none.csv")}, {}); }), HasSubstr("none.csv"));
  EXPECT_THAT(message_of<UsageError>([&] { InputTables({a, "-"}, {}); }), HasSubstr("standard input"));
  EXPECT_THAT(message_of<UsageError>([] { InputTables({}, {}); }), HasSubstr("no input"));
}

TEST_F(InputTablesTest, FileNamesMayLookLikePatterns) {
  const std::string odd = folder.write("a[1].csv", "smiles\nC\n");
  EXPECT_THAT(expand_inputs({odd}), ElementsAre(odd));
}

TEST_F(InputTablesTest, FingerprintsDistinguishTables) {
  const std::string text(200'000, 'x');
  const std::string a = fingerprint_of(folder.write("a", text));
  EXPECT_EQ(a, fingerprint_of(folder.write("a", text)));
  EXPECT_NE(a, fingerprint_of(folder.write("a", text + "y")));
  EXPECT_NE(a, fingerprint_of(folder.write("a", "y" + text.substr(1))));
  EXPECT_NE(a, fingerprint_of(folder.write("a", text.substr(1) + "y")));
  EXPECT_NO_THROW(fingerprint_of(folder.write("short", "")));
}

}  // namespace
}  // namespace molgraph
