// What the first lines of a table determine (separator, header, SMILES column, encoding), files that are not tables,
// and input limits.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <ctime>

#include "datasets/tables/table_reader.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"

namespace molgraph {
namespace {

using ::testing::ElementsAre;
using testing::gzip;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using ::testing::Not;
using testing::ScratchFolder;
using ::testing::SizeIs;
using Cells = std::vector<std::string>;

struct ReadTable {
  Cells columns;
  std::vector<Cells> rows;
  std::string smiles;  ///< name of the SMILES column
  TableFormat format = TableFormat::automatic;
  std::string notes, warnings;
};

class TableFormTest : public ::testing::Test {
 protected:
  ReadTable read(const std::string& name, const std::string& content, TableOptions options = {}) {
    ReadTable table;
    options.hooks.log = [&](const std::string& text, bool warning) {
      (warning ? table.warnings : table.notes) += text + "\n";
    };
    TableReader reader(folder.write(name, content), options);
    table.columns = reader.columns();
    table.smiles = table.columns[static_cast<std::size_t>(reader.smiles_column())];
    table.format = reader.format();
    for (TableRow row; reader.next(row);) table.rows.push_back(row.cells);
    return table;
  }
  ScratchFolder folder;
};

TableOptions with_header(bool yes) {
  TableOptions options;
  (yes ? options.header : options.no_header) = true;
  return options;
}

TEST_F(TableFormTest, FirstRowWithAnInvalidSmilesIsData) {
  for (const char* text :
       {"C1CC,5\nCCO,1\nCCN,2\n", "not a molecule,5\nCCO,1\nCCN,2\n", "C(,\nCCO,1\nCCN,2\n", "C1CC\nCCO\nCCN\n"}) {
    const ReadTable table = read("a.csv", text);
    EXPECT_EQ(table.columns[0], "smiles") << text;
    EXPECT_THAT(table.rows, SizeIs(3)) << text;
    EXPECT_THAT(table.notes, AllOf(HasSubstr("first line is used as data"), HasSubstr("--header"))) << text;
  }
}

TEST_F(TableFormTest, FirstRowWithNamesIsAHeader) {
  for (const char* text :
       {"compound,y\nCCO,1\nCCN,2\n", "what,y\nCCO,1\nCCN,2\n", "what,note\nCCO,x\nCCN,y\n", "what\nCCO\nCCN\n",
        "what,0,1,2\nCCO,5,6,7\nCCN,8,9,7\n", "what,y\nC1CC,1\nCCO,2\nCCN,3\n"}) {
    const ReadTable table = read("a.csv", text);
    EXPECT_THAT(table.rows, Not(IsEmpty()));
    EXPECT_EQ(table.smiles, table.columns[0]);
    EXPECT_NE(table.columns[0], "smiles") << text;
  }
  EXPECT_THAT(read("a.csv", "what,y\nCCO,1\nCCN,2\n").notes, HasSubstr("if it is data, use --no-header"));
  EXPECT_THAT(read("a.csv", "smiles,y\nC1CC,1\nCCN,2\n").notes, IsEmpty()) << "a usual name needs no note";
}

TEST_F(TableFormTest, OptionsOverrideTheGuess) {
  EXPECT_THAT(read("a.csv", "CCO,1\nCCN,2\n", with_header(true)).columns, ElementsAre("CCO", "1"));
  const ReadTable table = read("b.csv", "what,y\nCCO,1\nCCN,2\n", with_header(false));
  EXPECT_THAT(table.columns, ElementsAre("smiles", "column_2"));
  EXPECT_THAT(table.rows, SizeIs(3));
  EXPECT_THAT(table.notes, IsEmpty());
  TableOptions both = with_header(true);
  both.no_header = true;
  EXPECT_THAT(message_of<UsageError>([&] { read("c.csv", "smiles\nC\n", both); }), HasSubstr("contradict"));
  EXPECT_THAT(read("a.smi", "CCO a\nC b\n", with_header(true)).rows, SizeIs(1));
}

TEST_F(TableFormTest, AnyColumnMayContainTheMoleculesWithoutAHeader) {
  const ReadTable table = read("a.csv", "m1,CCO,1.5\nm2,C1CC,2.5\nm3,CCN,3\n");
  EXPECT_THAT(table.columns, ElementsAre("column_1", "smiles", "column_3"));
  EXPECT_THAT(table.rows, SizeIs(3));
  EXPECT_THAT(table.notes, HasSubstr("column 2"));
}

TEST_F(TableFormTest, FindsTheSmilesColumnByNameAndCells) {
  EXPECT_EQ(read("a.csv", "id,Structure,y\n1,CCO,2\n").smiles, "Structure");
  EXPECT_EQ(read("a.csv", "id,Isomeric SMILES,y\n1,CCO,2\n").smiles, "Isomeric SMILES");
  EXPECT_EQ(read("a.csv", "name,drug_smiles\nN,CCO\nC,CCN\n").smiles, "drug_smiles");
  EXPECT_EQ(read("a.csv", "structure,what,y\nfile1,CCO,2\nfile2,CC,3\n").smiles, "what")
      << "the cells decide, not the name";
  const ReadTable table = read("a.csv", "label,what,y\nfirst,CCO,2\nsecond,CC,3\n");
  EXPECT_EQ(table.smiles, "what");
  EXPECT_THAT(table.notes, AllOf(HasSubstr("'what'"), HasSubstr("-s")));
  EXPECT_EQ(read("a.csv", "text,other\nC,C\n").smiles, "text") << "the first of several";
  EXPECT_EQ(read("a.csv", "structure,y\n").smiles, "structure");
  EXPECT_EQ(read("a.csv", "id,iso_smiles\n1,bad\n2,alsobad\n").smiles, "iso_smiles")
      << "its rows are invalid, not the table";
}

TEST_F(TableFormTest, MissingSmilesColumnErrorNamesTheFlag) {
  EXPECT_THAT(message_of<DataError>([&] { read("a.csv", "label,y\nfirst,2\nsecond,3\n"); }),
              AllOf(HasSubstr("which column contains the SMILES"), HasSubstr("-s"), HasSubstr("label, y")));
  EXPECT_THAT(message_of<DataError>([&] { read("a.csv", "label,from,to\nfirst,CC,CCO\nsecond,CN,CCN\n"); }),
              HasSubstr("several parse: 'from', 'to'"));
  TableOptions named;
  named.smiles_column = "label";
  EXPECT_EQ(read("a.csv", "label,y\nfirst,2\n", named).smiles, "label");
  TableOptions anything;
  anything.molecules = false;
  EXPECT_THAT(read("a.csv", "label,y\nfirst,2\n", anything).rows, SizeIs(1));
}

TEST_F(TableFormTest, DetectsSemicolonsAndTabsInACsv) {
  const ReadTable table = read("a.csv", "smiles;y;note\nCCO;1,5;a, b\nCCN;2,5;\"c;d\"\n");
  EXPECT_THAT(table.columns, ElementsAre("smiles", "y", "note"));
  EXPECT_THAT(table.rows, ElementsAre(Cells{"CCO", "1,5", "a, b"}, Cells{"CCN", "2,5", "c;d"}));
  EXPECT_THAT(table.notes, HasSubstr("semicolons"));
  EXPECT_EQ(read("a.csv", "smiles\ty\nCCO\t1,5\n").format, TableFormat::tsv);
  EXPECT_THAT(read("a.tsv", "smiles,y\nCCO,1\n").columns, ElementsAre("smiles", "y"));
  EXPECT_THAT(read("a.csv", "CCO;1,5\nCCN;2,5\n").columns, ElementsAre("smiles", "column_2"));
  EXPECT_THAT(read("a.csv", "smiles,note\nCCO,a;b\n").columns, ElementsAre("smiles", "note"));
  EXPECT_THAT(read("a.csv", "smiles,one;two\nCCO,a;b\n").columns, ElementsAre("smiles", "one;two"));
  TableOptions tabs;
  tabs.format = TableFormat::tsv;
  EXPECT_THAT(read("a.csv", "smiles,y\tz\nCCO\t1\n", tabs).columns, ElementsAre("smiles,y", "z"))
      << "--format tsv means tabs";
}

TEST_F(TableFormTest, ReadsTheSeparatorLineOfExcel) {
  for (const char* first : {"sep=;\n", "SEP=;\r\n", "\"sep=;\"\n"}) {
    const ReadTable table = read("t.csv", std::string(first) + "smiles;y\nCCO;1.5\nCC;2.5\n");
    EXPECT_THAT(table.columns, ElementsAre("smiles", "y")) << first;
    EXPECT_THAT(table.rows, ElementsAre(Cells{"CCO", "1.5"}, Cells{"CC", "2.5"})) << first;
  }
  EXPECT_THAT(read("t.csv", "sep=|\nsmiles|y\nCCO|1,5;2\n").rows, ElementsAre(Cells{"CCO", "1,5;2"}));
  EXPECT_EQ(read("t.csv", "sep=\t\nsmiles\ty\nCCO\t1;2\n").format, TableFormat::tsv);
  EXPECT_THAT(read("t.csv", "sep=x,smiles\n1,CCO\n").columns, ElementsAre("sep=x", "smiles")) << "a column name";
}

TEST_F(TableFormTest, Latin1IsReadWithOneWarning) {
  const ReadTable table = read("a.csv", "smiles,Aktivit\xE4t,\xB5M\nCCO,1,na\xEFve\x85\nC\xA0,2,\xFC\n");
  EXPECT_THAT(table.columns, ElementsAre("smiles", "Aktivit\xC3\xA4t", "\xC2\xB5M"));
  EXPECT_THAT(table.rows,
              ElementsAre(Cells{"CCO", "1", "na\xC3\xAFve\xE2\x80\xA6"}, Cells{"C\xC2\xA0", "2", "\xC3\xBC"}));
  EXPECT_EQ(std::ranges::count(table.warnings, '\n'), 1) << table.warnings;
  EXPECT_THAT(table.warnings, AllOf(HasSubstr("not UTF-8"), HasSubstr("'Aktivit\xC3\xA4t'")));
  EXPECT_THAT(read("b.csv", "smiles,Aktivit\xC3\xA4t\nCCO,1\n").warnings, IsEmpty());
  EXPECT_THAT(read("a.smi", "CCO \xC4ther\n").rows, ElementsAre(Cells{"CCO", "\xC3\x84ther"}));
  const std::string block = "\xC4ther\n\n\n  0  0  0  0  0  0            999 V2000\nM  END\n";
  const ReadTable sdf = read("a.sdf", block +
                                          "> <Gr\xF6\xDF"
                                          "e>\n\xBD\n\n$$$$\n");
  EXPECT_THAT(sdf.columns, ElementsAre("smiles", "name",
                                       "Gr\xC3\xB6\xC3\x9F"
                                       "e"));
  EXPECT_THAT(sdf.rows, ElementsAre(Cells{"", "\xC3\x84ther", "\xC2\xBD"}));
}

TEST_F(TableFormTest, BinaryFileErrorsSuggestAConversion) {
  const auto message = [&](const std::string& name, const std::string& head) {
    return message_of<FileError>([&] { read(name, head + std::string(100, '\x01') + "\n"); });
  };
  EXPECT_THAT(message("a.xlsx", "PK\x03\x04"), AllOf(HasSubstr("a.xlsx: is an Excel workbook"), HasSubstr("CSV")));
  EXPECT_THAT(message("a.csv", "PK\x03\x04"), AllOf(HasSubstr("zip archive"), HasSubstr("CSV")));
  EXPECT_THAT(message("a.xls", "\xD0\xCF\x11\xE0"), HasSubstr("Excel workbook"));
  EXPECT_THAT(message("a.parquet", "PAR1\x15"), HasSubstr("read_parquet"));
  EXPECT_THAT(message("a.csv.bz2", "BZh91AY&SY"), HasSubstr("bunzip2"));
  EXPECT_THAT(message("a.csv.bz2", "BZh11AY&SY"), HasSubstr("bunzip2"));
  EXPECT_THAT(message("a.csv.xz", std::string("\xFD"
                                              "7zXZ\0",
                                              6)),
              HasSubstr("unxz"));
  EXPECT_THAT(message("a.csv.zst", "\x28\xB5\x2F\xFD"), HasSubstr("unzstd"));
  EXPECT_THAT(message("a.h5", "\x89HDF\r\n\x1A\n"), HasSubstr("HDF5"));
  EXPECT_THAT(read("b.csv", "BZh\n").columns, ElementsAre("BZh"));
}

TEST_F(TableFormTest, TooLongLinesAndTooManyColumnsAreErrors) {
  const std::string long_cell(kMaxRowBytes, 'x');
  EXPECT_THAT(message_of<DataError>([&] { read("a.csv", "smiles" + long_cell + ",y\nC,1\n"); }),
              AllOf(HasSubstr("first line"), HasSubstr("16 MiB")));
  EXPECT_THAT(message_of<DataError>([&] { read("a.csv", "smiles,y\nC,1\nC,\"" + long_cell + "\n\"\n"); }),
              AllOf(HasSubstr("row 2"), HasSubstr("16 MiB")));
  std::string lines = "smiles,y\nC,\"";
  for (int i = 0; i < 20; ++i) lines += std::string(1u << 20, 'x') + "\n";
  EXPECT_THAT(message_of<DataError>([&] { read("b.csv", lines); }),
              AllOf(HasSubstr("row 1"), HasSubstr("never closed")));
  EXPECT_THAT(read("c.csv", "smiles,y\nC," + long_cell.substr(2) + "\n").rows, SizeIs(1));

  const std::string commas(kMaxColumns, ',');
  EXPECT_THAT(message_of<DataError>([&] { read("d.csv", "smiles" + commas + "\nC\n"); }),
              AllOf(HasSubstr("100001 columns"), HasSubstr("100000")));
  EXPECT_THAT(read("e.csv", "smiles" + commas.substr(1) + "\nC" + commas.substr(1) + ",,\n").columns,
              SizeIs(kMaxColumns));
}

TEST_F(TableFormTest, WideTablesTakeLinearTime) {
  const std::clock_t begin = std::clock();
  std::string header = "smiles", sdf = "x\n\n\n  0  0  0  0  0  0            999 V2000\nM  END\n", row = "C";
  for (std::size_t c = 1; c < kMaxColumns; ++c) {
    header += ",p" + std::to_string(c);
    row += ",1";
    sdf += "> <p" + std::to_string(c) + ">\n1\n\n";
  }
  const ReadTable csv = read("a.csv", header + "\n" + row + "\n");
  const ColumnNames names(csv.columns, "a.csv");
  for (std::size_t c = 0; c < csv.columns.size(); ++c) ASSERT_EQ(names.find(csv.columns[c]), static_cast<int>(c));
  EXPECT_THAT(read("a.sdf", sdf + "$$$$\n" + sdf + "$$$$\n").rows, SizeIs(2));
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC) << "CPU time of this process";
  EXPECT_THAT(message_of<DataError>([&] { read("b.sdf", sdf + "> <p>\n1\n\n> <q>\n1\n\n$$$$\n"); }),
              HasSubstr("100000 properties"));
}

TEST_F(TableFormTest, TooLongLineIsABadRowAndDoesNotShiftOthers) {
  const std::string endless(3 * kMaxRowBytes + 7, 'x');
  for (const std::string& path : {folder.write("a.csv", "smiles,y\nC,1\nC," + endless + "\nN,2\n"),
                                  folder.write("a.smi", "C x\nC " + endless + "\nN y\n")}) {
    TableReader reader(path, {});
    std::vector<std::string> problems, first;
    for (TableRow row; reader.next(row); row = {}) {
      problems.push_back(row.problem);
      first.push_back(row.cells[0]);
    }
    EXPECT_THAT(first, ElementsAre("C", "", "N")) << path;
    EXPECT_THAT(problems, ElementsAre("", HasSubstr("50331657 bytes, but the limit is 16 MiB"), "")) << path;
  }
}

// Found by fuzzing: without a header, the molecules were read from a column that only a longer row had.
TEST_F(TableFormTest, FirstRowSetsTheNumberOfColumnsWithoutAHeader) {
  for (const char* text :
       {"CCO,1\nx,,,,,,,,CCCC,0\ny,,,,,,,,CCCC,0\n", "CCO,1\nc1cc,,,CCCC\nc1cc,,,CCCC\nc1ccccc1,1\nccc1,1\n"}) {
    TableOptions options = with_header(false);
    const TableReader reader(folder.write("ragged.csv", text), options);
    ASSERT_THAT(reader.columns(), SizeIs(2)) << text;
    EXPECT_LT(reader.smiles_column(), 2) << text;
  }
}

struct Interrupted {};

TEST_F(TableFormTest, ReadingCanBeInterrupted) {
  int calls = 0;
  TableOptions options;
  options.hooks.check_stop = [&] {
    if (++calls > 5) throw Interrupted{};
  };
  std::string rows = "smiles,note\n";
  while (rows.size() < (10u << 20)) rows += "CCO," + std::string(1000, 'x') + "\n";
  EXPECT_THROW(read("a.csv", rows, options), Interrupted);
  calls = 0;
  EXPECT_THROW(read("a.csv", "smiles," + rows, options), Interrupted);
  const std::string pipe = folder.file("pipe.csv");  // no process writes to it
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  calls = 0;
  EXPECT_THROW(TableReader(pipe, options), Interrupted);
}

}  // namespace
}  // namespace molgraph
