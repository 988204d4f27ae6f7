// .npy and .npz: half floats compared with their definition; files read back by a small reader of the formats.
#include "datasets/archives/npy.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "datasets/system/files.hpp"
#include "tests/datasets/store_fixture.hpp"

namespace molgraph {
namespace {

using namespace testing_store;

/// The value of a half float by IEEE 754's definition, exact in double.
double value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude = exponent == 31  ? (fraction == 0 ? HUGE_VAL : NAN)
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Float16, RoundTripsEveryHalfFloat) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = value_of_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(value_of_half(float16_bits(static_cast<float>(value)))));
    } else {
      EXPECT_EQ(float16_bits(static_cast<float>(value)), half) << value;
    }
  }
}

TEST(Float16, RoundsToTheNearestTiesToEven) {
  for (std::uint16_t half = 0; half < 0x7BFF; ++half) {  // all pairs of neighbours, including subnormal numbers
    const auto next = static_cast<std::uint16_t>(half + 1);
    const auto middle = static_cast<float>((value_of_half(half) + value_of_half(next)) / 2);  // exact in float
    EXPECT_EQ(float16_bits(middle), half % 2 == 0 ? half : next) << middle;
    EXPECT_EQ(float16_bits(std::nextafter(middle, 0.0f)), half) << middle;
    EXPECT_EQ(float16_bits(std::nextafter(middle, 1e9f)), next) << middle;
    EXPECT_EQ(float16_bits(-middle), (half % 2 == 0 ? half : next) | 0x8000) << middle;
  }
  EXPECT_EQ(float16_bits(65519.99f), 0x7BFF);  // the largest finite number
  EXPECT_EQ(float16_bits(65520.0f), 0x7C00);   // half a step above: infinity
  EXPECT_EQ(float16_bits(-1e30f), 0xFC00);
  EXPECT_EQ(float16_bits(1e-30f), 0);
}

/// Header fields and data of an .npy file.
struct Array {
  std::string descr, shape, data;
};

Array parse_npy(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  const auto length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + length) % 64, 0u);
  const std::string header = bytes.substr(10, length);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_NE(header.find("'fortran_order': False"), std::string::npos);
  const auto between = [&](const std::string& from, char to) {
    const std::size_t begin = header.find(from) + from.size();
    return header.substr(begin, header.find(to, begin) - begin);
  };
  return {between("'descr': '", '\''), between("'shape': (", ')'), bytes.substr(10 + length)};
}

std::vector<float> floats_of(const std::string& data) {
  std::vector<float> values(data.size() / sizeof(float));
  std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
  return values;
}

TEST(Npy, WritesRows) {
  const Folder folder;
  NpyWriter writer(folder / "a.npy", 3, FloatKind::float32);
  std::vector<float> expected;
  for (int row = 0; row < 50'000; ++row) {
    const float values[] = {static_cast<float>(row), -0.5f, NAN};
    writer.add_row(values);
    expected.insert(expected.end(), std::begin(values), std::end(values));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.npy"));
  writer.finish();
  const Array array = parse_npy(read_file(folder / "a.npy"));
  EXPECT_EQ(array.descr, "<f4");
  EXPECT_EQ(array.shape, "50000, 3");
  ASSERT_EQ(array.data.size(), expected.size() * 4);
  EXPECT_EQ(std::memcmp(array.data.data(), expected.data(), array.data.size()), 0);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Npy, WritesHalfFloatsAndEmptyArrays) {
  const Folder folder;
  NpyWriter half(folder / "a.npy", 2, FloatKind::float16), empty_writer(folder / "b.npy", 7, FloatKind::float32);
  const float row[] = {1.0f, -2.0f};
  half.add_row(row);
  half.finish();
  empty_writer.finish();
  const Array array = parse_npy(read_file(folder / "a.npy")), empty = parse_npy(read_file(folder / "b.npy"));
  EXPECT_EQ(array.descr, "<f2");
  EXPECT_EQ(array.data, std::string("\x00\x3C\x00\xC0", 4));
  EXPECT_EQ(empty.shape, "0, 7");
  EXPECT_TRUE(empty.data.empty());
}

TEST(Npy, LeavesNoFileIfUnfinished) {
  const Folder folder;
  {
    NpyWriter npy(folder / "a.npy", 1, FloatKind::float32);
    NpzWriter npz(folder / "a.npz", 1, FloatKind::float32);
    const float row[] = {1};
    npy.add_row(row);
    npz.add_row(row, "id", "C", "ok");
  }
  EXPECT_EQ(folder.files(), 0u);
}

std::uint64_t number(const std::string& bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t b = 0; b < width; ++b) value |= std::uint64_t{static_cast<unsigned char>(bytes.at(at + b))} << 8 * b;
  return value;
}

std::string inflated(const std::string& packed, std::size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(size);
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_out, 0u);
  inflateEnd(&stream);
  return out;
}

/// Parses a zip64 archive from its end, as other readers do, and checks both headers of every member.
std::map<std::string, Array> parse_npz(const std::string& zip) {
  const std::size_t end = zip.size() - 22, locator = end - 20;
  EXPECT_EQ(number(zip, end, 4), 0x06054b50u);
  EXPECT_EQ(number(zip, locator, 4), 0x07064b50u);
  const std::size_t end64 = number(zip, locator + 8, 8);
  EXPECT_EQ(number(zip, end64, 4), 0x06064b50u);
  std::size_t at = number(zip, end64 + 48, 8);
  EXPECT_EQ(at + number(zip, end64 + 40, 8), end64);
  std::map<std::string, Array> arrays;
  for (std::uint64_t member = 0; member < number(zip, end64 + 32, 8); ++member) {
    EXPECT_EQ(number(zip, at, 4), 0x02014b50u);
    const std::size_t method = number(zip, at + 10, 2), name_length = number(zip, at + 28, 2),
                      extra = at + 46 + name_length;
    const std::string name = zip.substr(at + 46, name_length);
    const std::size_t size = number(zip, extra + 4, 8), packed = number(zip, extra + 12, 8),
                      local = number(zip, extra + 20, 8);
    EXPECT_EQ(zip.substr(local + 14, 12), zip.substr(at + 16, 12)) << "CRC and sizes differ between the headers";
    EXPECT_EQ(zip.substr(local + 30, name_length), name);
    EXPECT_EQ(zip.substr(local + 30 + name_length + 4, 16), zip.substr(extra + 4, 16));
    const std::string stored = zip.substr(local + 30 + name_length + 20, packed);
    const std::string bytes = method == 8 ? inflated(stored, size) : stored;
    EXPECT_EQ(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()), number(zip, at + 16, 4)) << name;
    arrays[name] = parse_npy(bytes);
    at = extra + number(zip, at + 30, 2);
  }
  EXPECT_EQ(at, end64);
  return arrays;
}

/// The text of one row of a '<U' array without its padding.
std::u32string text_of(const Array& array, std::size_t row) {
  const std::size_t width = std::stoul(array.descr.substr(2));
  std::u32string text(width, U'\0');
  std::memcpy(text.data(), array.data.data() + row * width * 4, width * 4);
  return text.substr(0, text.find(U'\0'));
}

TEST(Npz, WritesMatrixAndTexts) {
  const Folder folder;
  NpzWriter writer(folder / "a.npz", 2, FloatKind::float32);
  constexpr int rows = 40'000;  // more than one buffer of each array
  for (int row = 0; row < rows; ++row) {
    const float values[] = {static_cast<float>(row), 0.5f};
    writer.add_row(values, row == 7 ? "µ€𝄞" : std::to_string(row), row == 9 ? "C\xFF\xC3" : "CCO",
                   row == 1 ? "" : "ok");
  }
  writer.finish();
  EXPECT_EQ(folder.files(), 1u);
  const auto arrays = parse_npz(read_file(folder / "a.npz"));
  ASSERT_EQ(arrays.size(), 4u);
  const Array &matrix = arrays.at("embeddings.npy"), &ids = arrays.at("ids.npy"), &smiles = arrays.at("smiles.npy");
  EXPECT_EQ(matrix.descr, "<f4");
  EXPECT_EQ(matrix.shape, "40000, 2");
  const std::vector<float> values = floats_of(matrix.data);
  ASSERT_EQ(values.size(), 2u * rows);
  for (int row = 0; row < rows; ++row) EXPECT_EQ(values[static_cast<std::size_t>(2 * row)], static_cast<float>(row));
  EXPECT_EQ(ids.shape, "40000,");
  EXPECT_EQ(ids.descr, "<U5");
  EXPECT_EQ(text_of(ids, 7), U"µ€𝄞");
  EXPECT_EQ(text_of(ids, rows - 1), U"39999");
  EXPECT_EQ(text_of(smiles, 9), U"C\uFFFD\uFFFD");
  EXPECT_EQ(text_of(smiles, 10), U"CCO");
  EXPECT_EQ(text_of(arrays.at("status.npy"), 1), U"");
  EXPECT_EQ(text_of(arrays.at("status.npy"), 2), U"ok");
}

// NumPy pads all strings of an array to the longest one.
TEST(Npz, OneLongTextDoesNotPadAllOthers) {
  const Folder folder;
  NpzWriter writer(folder / "a.npz", 1, FloatKind::float32);
  constexpr std::size_t rows = 2000, row_of_long = 7;
  const std::string longest = "µ" + std::string(400'000, 'C') + "\xFF";
  const float value[] = {1};
  for (std::size_t row = 0; row < rows; ++row)
    writer.add_row(value, std::to_string(row), row == row_of_long ? longest : "CC€", "ok");
  writer.finish();
  const auto arrays = parse_npz(read_file(folder / "a.npz"));
  std::size_t bytes = 0;
  for (const auto& [name, array] : arrays) bytes += array.data.size();
  EXPECT_LT(bytes, std::size_t{20} << 20) << "with padding, it would be 3.2 GB";
  ASSERT_EQ(arrays.size(), 7u);
  EXPECT_EQ(text_of(arrays.at("smiles.npy"), 8), U"CC€");
  const std::u32string cut = text_of(arrays.at("smiles.npy"), row_of_long);
  EXPECT_EQ(cut[0], U'µ');
  EXPECT_EQ(cut.size(), std::stoul(arrays.at("smiles.npy").descr.substr(2)));

  const Array &utf8 = arrays.at("smiles_utf8.npy"), &offsets = arrays.at("smiles_offsets.npy"),
              &note = arrays.at("smiles_note.npy");
  EXPECT_EQ(utf8.descr, "|u1");
  EXPECT_EQ(offsets.descr, "<i8");
  EXPECT_EQ(offsets.shape, "2001,");
  const auto whole = [&](std::size_t row) {
    std::int64_t at[2];
    std::memcpy(at, offsets.data.data() + 8 * row, sizeof at);
    return utf8.data.substr(static_cast<std::size_t>(at[0]), static_cast<std::size_t>(at[1] - at[0]));
  };
  EXPECT_EQ(whole(0), "CC€");
  EXPECT_TRUE(whole(row_of_long) == "µ" + std::string(400'000, 'C') + "\xEF\xBF\xBD");
  EXPECT_EQ(whole(rows - 1), "CC€");
  EXPECT_NE(text_of(note, 0).find(U"1 of the smiles are longer than"), std::u32string::npos);
  EXPECT_EQ(folder.files(), 1u);
}

TEST(Npz, WritesEmptyArraysAndEmptyTexts) {
  const Folder folder;
  NpzWriter empty_writer(folder / "a.npz", 4, FloatKind::float16), blank(folder / "b.npz", 1, FloatKind::float16);
  empty_writer.finish();
  const float row[] = {1};
  blank.add_row(row, "", "", "");
  blank.finish();
  EXPECT_EQ(parse_npz(read_file(folder / "a.npz")).at("embeddings.npy").shape, "0, 4");
  EXPECT_EQ(parse_npz(read_file(folder / "a.npz")).at("ids.npy").shape, "0,");
  EXPECT_EQ(parse_npz(read_file(folder / "b.npz")).at("ids.npy").descr, "<U1");
}

TEST(Npz, EqualRowsGiveEqualFiles) {
  const Folder folder;
  for (const char* name : {"a.npz", "b.npz"}) {
    NpzWriter writer(folder / name, 1, FloatKind::float32);
    const float row[] = {3};
    writer.add_row(row, "1", "C", "ok");
    writer.finish();
  }
  EXPECT_EQ(read_file(folder / "a.npz"), read_file(folder / "b.npz"));
}

}  // namespace
}  // namespace molgraph
