#include "datasets/tables/table_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/tables/table_format.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using testing::gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::RedirectedInput;
using testing::ScratchFolder;
using ::testing::SizeIs;
using Cells = std::vector<std::string>;

struct Table {
  Cells columns;
  std::vector<TableRow> rows;
  int smiles = 0, id = 0;
  TableFormat format = TableFormat::automatic;
};

Table read(const std::string& path, const TableOptions& options = {}) {
  TableReader reader(path, options);
  Table table{reader.columns(), {}, reader.smiles_column(), reader.id_column(), reader.format()};
  TableRow row;
  while (reader.next(row)) {
    EXPECT_EQ(row.row, static_cast<std::int64_t>(table.rows.size()));
    EXPECT_EQ(row.cells.size(), table.columns.size());
    table.rows.push_back(row);
  }
  EXPECT_FALSE(reader.next(row)) << "no rows follow the end";
  return table;
}

std::vector<Cells> cells_of(const Table& table) {
  std::vector<Cells> cells;
  for (const TableRow& row : table.rows) cells.push_back(row.cells);
  return cells;
}

class TableReaderTest : public ::testing::Test {
 protected:
  Table read_text(const std::string& name, const std::string& content, const TableOptions& options = {}) {
    return read(folder.write(name, content), options);
  }
  ScratchFolder folder;
};

TEST_F(TableReaderTest, ReadsPlainCsv) {
  const Table table = read_text("a.csv", "ID,SMILES,y\nm1,CCO,1.5\nm2,c1ccccc1,\n");
  EXPECT_EQ(table.format, TableFormat::csv);
  EXPECT_THAT(table.columns, ElementsAre("ID", "SMILES", "y"));
  EXPECT_EQ(table.smiles, 1);
  EXPECT_EQ(table.id, 0);
  EXPECT_THAT(cells_of(table), ElementsAre(Cells{"m1", "CCO", "1.5"}, Cells{"m2", "c1ccccc1", ""}));
}

TEST_F(TableReaderTest, ReadsQuotesWithLinesAndDelimiters) {
  const Table table = read_text("a.csv", "smiles,note\nCCO,\"a, \"\"b\"\"\nsecond line\"\n\"CCN\",5\" pipe\nC,\"\"\n");
  EXPECT_THAT(cells_of(table),
              ElementsAre(Cells{"CCO", "a, \"b\"\nsecond line"}, Cells{"CCN", "5\" pipe"}, Cells{"C", ""}));
  EXPECT_THAT(cells_of(read_text("b.csv", "smiles,note,y\nCCO,\"a\nb\" ,1\n")), ElementsAre(Cells{"CCO", "a\nb ", "1"}))
      << "a blank after the mark";
}

// Without an error, CCO would get the cells of CCC, and CCN would vanish.
TEST_F(TableReaderTest, TwoStrayQuotationMarksAreAnError) {
  for (const char* end : {"\n", "\r\n"}) {
    std::string text;
    for (const char* line : {"smiles,name,y", "F,a,0", "CCO,\"5-foo,1", "CCN,bar,2", "CCC,\"baz,3"})
      text += std::string(line) + end;
    EXPECT_THAT(message_of<DataError>([&] { read_text("a.csv", text); }),
                AllOf(HasSubstr("a.csv, row 2:"), HasSubstr("is not closed before the next one"), HasSubstr("5-foo")));
  }
}

// The second mark ends a cell, so the joined rows are a valid row.
TEST_F(TableReaderTest, WarnsOfLinesInACellThatLookLikeRows) {
  std::vector<std::string> warnings;
  TableOptions options;
  options.hooks.log = [&](const std::string& text, bool warning) {
    if (warning) warnings.push_back(text);
  };
  const std::string good = "id,smiles,note\n\"1\nb\",F,\"two\nlines, one comma\"\n";
  EXPECT_THAT(read_text("a.csv", good, options).rows, SizeIs(1));
  EXPECT_THAT(warnings, IsEmpty());
  const std::string stray = "2,CCO,\"5 foo\n3,CCN,bar\n4,CCC,baz\"\n5,C,\n";
  EXPECT_THAT(read_text("b.csv", good + stray + stray, options).rows, SizeIs(5));
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("b.csv, row 2:"), HasSubstr("'3,CCN,bar'"))));
}

// Takes minutes if each quotation mark causes a pass over the line.
TEST_F(TableReaderTest, ReadsManyQuotationMarksInOneLineOfACell) {
  TableOptions options;
  options.hooks.log = [](const std::string&, bool) {};
  std::string marks;
  for (int i = 0; i < 1'000'000; ++i) marks += "\"\"";
  const Table table = read_text("a.csv", "smiles,note\nCCO,\"first\n" + marks + "\"\n", options);
  EXPECT_THAT(cells_of(table), ElementsAre(Cells{"CCO", "first\n" + std::string(1'000'000, '"')}));
}

TEST_F(TableReaderTest, ReadsCrLfByteOrderMarkAndMissingLastNewline) {
  const Table table = read_text("a.csv", "\xEF\xBB\xBFsmiles,note\r\nCCO,\"x\r\ny\"\r\nCCN,z\r\nC,\"w\"");
  EXPECT_THAT(table.columns, ElementsAre("smiles", "note"));
  EXPECT_THAT(cells_of(table), ElementsAre(Cells{"CCO", "x\r\ny"}, Cells{"CCN", "z"}, Cells{"C", "w"}));
}

TEST_F(TableReaderTest, ReadsOldMacLineEnds) {
  EXPECT_THAT(cells_of(read_text("a.csv", "smiles,y\rCCO,1\rC,2\r")), ElementsAre(Cells{"CCO", "1"}, Cells{"C", "2"}));
}

TEST_F(TableReaderTest, EmptyLinesDoNotShiftRows) {
  const Table table = read_text("a.csv", "\nsmiles\nCCO\n\n\nCCN\n\n\n\n");
  EXPECT_THAT(cells_of(table), ElementsAre(Cells{"CCO"}, Cells{""}, Cells{""}, Cells{"CCN"}));
}

TEST_F(TableReaderTest, ShortRowsAreFilledAndLongOnesReported) {
  const Table table = read_text("a.csv", "smiles,y\nCCO\nCCN,1,2\nC,1,,\n");
  ASSERT_THAT(table.rows, SizeIs(3));
  EXPECT_THAT(table.rows[0].cells, ElementsAre("CCO", ""));
  EXPECT_THAT(table.rows[0].problem, IsEmpty());
  EXPECT_THAT(table.rows[1].cells, ElementsAre("CCN", "1"));
  EXPECT_THAT(table.rows[1].problem, HasSubstr("3 cells, but the table has 2 columns"));
  EXPECT_THAT(table.rows[2].problem, IsEmpty()) << "surplus empty cells are ignored";
}

TEST_F(TableReaderTest, BytesOfACellAreKept) {
  const std::string strange("C\0C\x01\xC3\xBF", 6);
  const Table table = read_text("a.csv", "smiles,y\n" + strange + ", 1 \n");
  EXPECT_THAT(cells_of(table), ElementsAre(Cells{strange, " 1 "}));
}

TEST_F(TableReaderTest, UnclosedQuotationMarkErrorNamesItsRow) {
  const std::string path = folder.write("a.csv", "smiles,y\nCCO,1\nCCN,\"2\nC,3\n");
  EXPECT_THAT(message_of<DataError>([&] { read(path); }), AllOf(HasSubstr("a.csv, row 2:"), HasSubstr("never closed")));
}

TEST_F(TableReaderTest, ReadsCsvWithoutHeader) {
  const Table table = read_text("a.csv", "CCO,1\nCCN,2\n");
  EXPECT_THAT(table.columns, ElementsAre("smiles", "column_2"));
  EXPECT_THAT(table.rows, SizeIs(2));
  // The name of the first column is a valid SMILES, but another column is named smiles.
  EXPECT_THAT(read_text("b.csv", "N,smiles\n3,CCN\n").rows, SizeIs(1));
  TableOptions options;
  options.no_header = true;
  EXPECT_THAT(read_text("c.csv", "smiles,y\nCCN,2\n", options).rows, SizeIs(2));
}

TEST_F(TableReaderTest, UsesNamedColumns) {
  TableOptions options;
  options.smiles_column = "STRUCTURE";
  options.id_column = "y";
  const Table table = read_text("a.csv", "smiles,structure,y\nC,CCO,1\n", options);
  EXPECT_EQ(table.smiles, 1);
  EXPECT_EQ(table.id, 2);
  options.smiles_column = "mol";
  EXPECT_THAT(message_of<DataError>([&] { read(folder.file("a.csv"), options); }),
              AllOf(HasSubstr("no column 'mol'"), HasSubstr("smiles, structure, y")));
  EXPECT_EQ(read_text("b.csv", "name,canonical_smiles\nx,C\n").smiles, 1);
  EXPECT_EQ(read_text("c.csv", "text,other\nC,C\n").smiles, 0);
  EXPECT_EQ(read_text("d.csv", "name,y\nC,1\n").id, -1) << "the SMILES column is not an id";
}

TEST_F(TableReaderTest, ReadsTsv) {
  EXPECT_THAT(cells_of(read_text("a.tsv", "smiles\ty\nCCO\t1,5\n")), ElementsAre(Cells{"CCO", "1,5"}));
}

TEST_F(TableReaderTest, SmiKeepsNamesWithBlanks) {
  const Table table = read_text("a.smi", "CCO ethanol, pure\n\nc1ccccc1\tbenzene\tx\n  C\n\tno structure\n\n");
  EXPECT_EQ(table.format, TableFormat::smi);
  EXPECT_EQ(table.id, 1);
  EXPECT_THAT(cells_of(table), ElementsAre(Cells{"CCO", "ethanol, pure"}, Cells{"", ""},
                                           Cells{"c1ccccc1", "benzene\tx"}, Cells{"C", ""}, Cells{"", "no structure"}));
  EXPECT_THAT(read_text("b.smi", "SMILES Title\nCCO a\n").rows, SizeIs(1));
}

constexpr const char* kMethane =
    "methane\n  test\n\n  1  0  0  0  0  0  0  0  0  0999 V2000\n"
    "    0.0000    0.0000    0.0000 C   0  0\nM  END\n";

TEST_F(TableReaderTest, SdfRecordsBecomeRows) {
  const std::string block = kMethane;
  const Table table = read_text("a.sdf", block + ">  <logP>  (1)\n1.1\n\n>  <note>\ntwo\nlines\n\n$$$$\n" + block +
                                             "> <logP>\n2.2\n\n$$$$\r\n" + block + "\n");
  EXPECT_THAT(table.columns, ElementsAre("smiles", "name", "logP", "note"));
  ASSERT_THAT(table.rows, SizeIs(3)) << "the last record may lack its $$$$";
  EXPECT_THAT(table.rows[0].cells, ElementsAre("", "methane", "1.1", "two\nlines"));
  EXPECT_THAT(table.rows[1].cells, ElementsAre("", "methane", "2.2", ""));
  for (const TableRow& row : table.rows) EXPECT_EQ(row.mol_block, block);
}

TEST_F(TableReaderTest, SdfPropertyAfterAThousandRecordsIsReported) {
  std::string text;
  for (int r = 0; r < 1000; ++r) text += std::string(kMethane) + "> <y>\n1\n\n$$$$\n";
  for (int r = 0; r < 2; ++r) text += std::string(kMethane) + "> <late>\n2\n\n> <y>\n3\n\n$$$$\n";
  std::vector<std::string> lines;
  TableOptions options;
  options.hooks.log = [&](const std::string& line, bool warning) {
    if (warning) lines.push_back(line);
  };
  Table table = read_text("a.sdf", text, options);
  ASSERT_THAT(table.rows, SizeIs(1002));
  EXPECT_THAT(table.rows[1000].problem, IsEmpty());
  EXPECT_THAT(table.rows[1000].cells, ElementsAre("", "methane", "3"));
  EXPECT_THAT(lines, ElementsAre(HasSubstr("a.sdf, record 1001: the property <late>")));
  options.all_properties = true;
  table = read_text("a.sdf", text, options);
  ASSERT_THAT(table.rows, SizeIs(1002));
  EXPECT_THAT(table.columns, ElementsAre("smiles", "name", "y", "late"));
  EXPECT_THAT(table.rows[0].cells, ElementsAre("", "methane", "1", ""));
  EXPECT_THAT(table.rows[1001].cells, ElementsAre("", "methane", "3", "2"));
  EXPECT_THAT(lines, SizeIs(1)) << "no other warning";
}

TEST_F(TableReaderTest, SdfPropertyNamedSmilesDoesNotCollide) {
  const std::string text = std::string(kMethane) + "> <SMILES>\nCC\n\n$$$$\n";
  EXPECT_THAT(read_text("a.sdf", text).columns, ElementsAre("molgraph_smiles", "name", "SMILES"));
  TableOptions options;
  options.smiles_column = "SMILES";
  const Table table = read_text("b.sdf", text, options);
  EXPECT_EQ(table.smiles, 2);
  EXPECT_THAT(table.rows[0].mol_block, IsEmpty()) << "the user chose the property's text as the molecule";
}

TEST_F(TableReaderTest, ReadsSeveralGzipMembers) {
  const std::string members = gzip("smiles,y\nCC") + gzip("") + gzip("O,1\nC,2\n");
  const std::string path = folder.write("a.csv.gz", members + std::string(7, '\0'));
  EXPECT_THAT(cells_of(read(path)), ElementsAre(Cells{"CCO", "1"}, Cells{"C", "2"}));
  EXPECT_EQ(read(path).format, TableFormat::csv);
}

TEST_F(TableReaderTest, DamagedGzipIsAFileError) {
  std::string rows = "smiles,y\n";
  for (int r = 0; r < 20000; ++r) rows += "CCO," + std::to_string(r * 7919 % 10007) + "\n";
  const std::string whole = gzip(rows);
  const auto message = [&](const std::string& bytes) {
    return message_of<FileError>([&] { read(folder.write("a.csv.gz", bytes)); });
  };
  EXPECT_EQ(message(whole), "");
  EXPECT_THAT(message(whole.substr(0, whole.size() - 5)), HasSubstr("truncated"));
  EXPECT_THAT(message(whole.substr(0, whole.size() / 2)), HasSubstr("truncated"));
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 0x55);
  EXPECT_THAT(message(flipped), HasSubstr("damaged"));
  EXPECT_THAT(message(whole + "tail"), HasSubstr("other bytes follow"));
}

TEST_F(TableReaderTest, FormatOfStandardInputIsGuessed) {
  const auto format_of = [&](const std::string& content) {
    const RedirectedInput input(folder.write("in", content));
    return read("-").format;
  };
  EXPECT_EQ(format_of("smiles,y\nCCO,1\n"), TableFormat::csv);
  EXPECT_EQ(format_of("smiles\nCCO\n"), TableFormat::csv);
  EXPECT_EQ(format_of("CCO,1\n"), TableFormat::csv);
  EXPECT_EQ(format_of("smiles\ty\nCCO\t1\n"), TableFormat::tsv);
  EXPECT_EQ(format_of("CCO\nCCN\n"), TableFormat::smi);
  EXPECT_EQ(format_of("CCO ethanol, pure\n"), TableFormat::smi);
  EXPECT_EQ(format_of("CCO\tethanol\n"), TableFormat::smi);
  EXPECT_EQ(format_of("CCO\tethanol\t1.5\n"), TableFormat::tsv);
  EXPECT_EQ(format_of(std::string(kMethane) + "$$$$\n"), TableFormat::sdf);
  EXPECT_EQ(format_of(gzip("smiles,y\nCCO,1\n")), TableFormat::csv);
}

TEST_F(TableReaderTest, MissingEmptyAndUtf16FilesAreErrors) {
  EXPECT_THAT(message_of<FileError>([&] { read(folder.file("none.csv")); }), HasSubstr("none.csv"));
  EXPECT_THAT(message_of<FileError>([&] { read(folder.file("")); }), HasSubstr("directory"));
  EXPECT_THAT(message_of<DataError>([&] { read_text("a.csv", ""); }), HasSubstr("is empty"));
  EXPECT_THAT(message_of<DataError>([&] { read_text("a.csv", "\n\n"); }), HasSubstr("is empty"));
  EXPECT_THAT(message_of<FileError>([&] { read_text("a.csv", std::string("\xFF\xFEs\0", 4)); }), HasSubstr("UTF-16"));
  EXPECT_THAT(read_text("a.csv", "smiles,y\n").rows, IsEmpty());
}

TEST(QuoteCell, QuotesOnlyIfNecessary) {
  EXPECT_EQ(quote_cell("CCO", ','), "CCO");
  EXPECT_EQ(quote_cell("1,5", '\t'), "1,5");
  EXPECT_EQ(quote_cell("1,5", ','), "\"1,5\"");
  EXPECT_EQ(quote_cell("say \"a\"", ','), "\"say \"\"a\"\"\"");
  EXPECT_EQ(quote_cell("a\r\nb", ','), "\"a\r\nb\"");
}

TEST(QuoteCell, RoundTripsThroughTheReader) {
  const ScratchFolder folder;
  const Cells strange{"", "a,b", "\"", "\"\"x", "line\nline\r\n", "\r", " blank ", "tab\t"};
  std::string text = "smiles";
  for (std::size_t c = 1; c < strange.size(); ++c) text += ",c" + std::to_string(c);
  text += '\n';
  for (std::size_t c = 0; c < strange.size(); ++c) text += (c ? "," : "") + quote_cell(strange[c], ',');
  const Table table = read(folder.write("a.csv", text + "\n"));
  EXPECT_THAT(cells_of(table), ElementsAre(strange));
}

TEST(TableFormatNames, AreReadFromOptionsAndSuffixes) {
  EXPECT_EQ(table_format_from_string("TSV"), TableFormat::tsv);
  EXPECT_THAT(message_of<UsageError>([] { table_format_from_string("xlsx"); }), HasSubstr("xlsx"));
  EXPECT_EQ(format_by_suffix("x/y.SDF.gz"), TableFormat::sdf);
  EXPECT_EQ(format_by_suffix("x.csv/y"), TableFormat::automatic);
}

}  // namespace
}  // namespace molgraph
