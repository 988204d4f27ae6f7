// safetensors: round trips, the exact bytes, and damaged or invalid files.
#include "datasets/archives/safetensors.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstdio>
#include <cstring>

#include "datasets/system/files.hpp"
#include "tests/datasets/store_fixture.hpp"

namespace molgraph {
namespace {

using namespace testing_store;

/// Bytes of a file with this header and data. `length` is the value of the length field; 0 = the correct value.
std::string file_of(const std::string& header, std::size_t data_bytes, std::uint64_t length = 0) {
  if (length == 0) length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\1');
}

/// XXH3-64 as 16 hex digits.
std::string checksum_of(const std::string& data) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(data.data(), data.size())));
  return digits;
}

TEST(Safetensors, RoundTripsEveryType) {
  const Folder folder;
  const double f64[] = {1.5, -0.0};
  const float f32[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t i64[] = {-7};
  const std::int32_t i32[] = {8, 9, 10};
  const std::uint8_t u8[] = {11, 12, 13};
  const std::vector<TensorView> tensors{{"b.f32", DType::f32, {2, 3}, f32}, {"a.u8", DType::u8, {3}, u8},
                                        {"z.f64", DType::f64, {2}, f64},    {"scalar", DType::i64, {}, i64},
                                        {"c.i32", DType::i32, {3, 1}, i32}, {"none", DType::f32, {0, 5}, nullptr}};
  const std::map<std::string, std::string> metadata{{"config", "a = \"1\"\nµ = 2"}, {"", ""}};
  write_safetensors(folder / "a.safetensors", metadata, tensors);
  const SafetensorsFile file = read_safetensors(folder / "a.safetensors");
  EXPECT_EQ(file.metadata, metadata);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const TensorView& view : tensors) {
    const StoredTensor& stored = file.tensors.at(view.name);
    EXPECT_EQ(stored.dtype, view.dtype) << view.name;
    EXPECT_EQ(stored.shape, view.shape) << view.name;
    ASSERT_EQ(stored.bytes.size(), static_cast<std::size_t>(stored.count()) * size_of(view.dtype)) << view.name;
    const auto* written = static_cast<const std::byte*>(view.data);
    EXPECT_EQ(stored.bytes, std::vector<std::byte>(written, written + stored.bytes.size())) << view.name;
  }
  EXPECT_EQ(file.tensors.at("scalar").count(), 1);
  EXPECT_EQ(file.tensors.at("none").count(), 0);
}

TEST(Safetensors, WritesTheExpectedBytes) {
  const Folder folder;
  const float x[] = {1};
  const std::int64_t n[] = {2};
  write_safetensors(folder / "a", {{"k", "v"}}, {{"x", DType::f32, {1}, x}, {"n", DType::i64, {1, 1}, n}});
  std::string data(reinterpret_cast<const char*>(n), 8);
  data.append(reinterpret_cast<const char*>(x), 4);
  std::string header =
      R"({"__metadata__":{"k":"v","molgraph.checksum":"xxh3-64:)" + checksum_of(data) +
      R"("},"n":{"data_offsets":[0,8],"dtype":"I64","shape":[1,1]},"x":{"data_offsets":[8,12],"dtype":"F32","shape":[1]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string expected = file_of(header, 0) + data;
  EXPECT_EQ(read_file(folder / "a"), expected);
  // The order in which tensors are given does not matter.
  write_safetensors(folder / "b", {{"k", "v"}}, {{"n", DType::i64, {1, 1}, n}, {"x", DType::f32, {1}, x}});
  EXPECT_EQ(read_file(folder / "b"), expected);
}

TEST(Safetensors, RoundTripsAnEmptyFile) {
  const Folder folder;
  write_safetensors(folder / "a", {}, {});
  const SafetensorsFile file = read_safetensors(folder / "a");
  EXPECT_TRUE(file.tensors.empty());
  EXPECT_TRUE(file.metadata.empty());
}

TEST(Safetensors, InvalidUtf8IsReplaced) {
  const Folder folder;
  write_safetensors(folder / "a", {{"name", "L\xF6slichkeit"}}, {});
  EXPECT_EQ(read_safetensors(folder / "a").metadata.at("name"), "L\xEF\xBF\xBDslichkeit");
}

TEST(Safetensors, DetectsEveryTruncation) {
  const Folder folder;
  const std::vector<float> x(20, 1.0f);
  write_safetensors(folder / "a", {{"k", "v"}},
                    {{"x", DType::f32, {4, 5}, x.data()}, {"y", DType::f32, {20}, x.data()}});
  const std::string whole = read_file(folder / "a");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file_atomically(folder / "b", std::string_view(whole).substr(0, length));
    EXPECT_NE(file_error([&] { read_safetensors(folder / "b"); }).find(folder / "b"), std::string::npos) << length;
  }
  EXPECT_NE(file_error([&] { read_safetensors(folder / "missing"); }).find("No such file"), std::string::npos);
}

// With a flipped bit, the data are still numbers of the right shape. Only the checksum detects it.
TEST(Safetensors, DetectsAFlippedBitInAnyByteOfTheData) {
  const Folder folder;
  const std::vector<float> x{1, 2, 3, 4, 5};
  write_safetensors(folder / "a", {}, {{"x", DType::f32, {5}, x.data()}, {"y", DType::f32, {5}, x.data()}});
  const std::string whole = read_file(folder / "a");
  for (std::size_t byte = whole.size() - 40; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 8));
    write_file_atomically(folder / "b", damaged);
    const std::string error = file_error([&] { read_safetensors(folder / "b"); });
    EXPECT_NE(error.find("its data are damaged"), std::string::npos) << byte << error;
  }
}

TEST(Safetensors, ReadsFilesWithoutAChecksum) {
  const Folder folder;
  const std::string tensor = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  write_file_atomically(folder / "a", file_of("{" + tensor, 2));
  EXPECT_EQ(read_safetensors(folder / "a").tensors.at("a").count(), 2);
  write_file_atomically(folder / "a", file_of(R"({"__metadata__":{"k":"v"},)" + tensor, 2));
  EXPECT_EQ(read_safetensors(folder / "a").metadata.at("k"), "v");
  write_file_atomically(folder / "a", file_of(R"({"__metadata__":{"molgraph.checksum":"none"},)" + tensor, 2));
  EXPECT_NE(file_error([&] { read_safetensors(folder / "a"); }).find("the file contains none"), std::string::npos);
}

TEST(Safetensors, RejectsInvalidFiles) {
  const std::string x = R"("dtype":"F32","shape":[1],"data_offsets":)";
  const struct {
    std::string bytes, message;
  } cases[] = {
      {file_of("{}", 0, 1ULL << 62), "a header of 4611686018427387904 bytes"},
      {file_of("{}", 0, 3), "a header of 3 bytes"},
      {file_of("[]", 0), "does not begin with '{'"},
      {file_of(" {}", 0), "does not begin with '{'"},
      {file_of("{\"a\":", 0), "not JSON"},
      {file_of("{\"a\":" + std::string(100'000, '['), 0), "not JSON"},
      {file_of("{}", 4), "4 bytes that belong to no tensor"},
      {file_of("{\"a\":3}", 0), "lacks dtype"},
      {file_of("{\"a\":{" + x + "[0,4]},\"a\":{" + x + "[0,4]}}", 4), "contains 'a' twice"},
      {file_of("{\"a\":{" + x + "[0,4]},\"b\":{" + x + "[2,6]}}", 6), "overlaps"},
      {file_of("{\"a\":{" + x + "[0,4]},\"b\":{" + x + "[0,4]}}", 4), "overlaps"},
      {file_of("{\"a\":{" + x + "[4,8]}}", 8), "leaves a gap"},
      {file_of("{\"a\":{" + x + "[0,8]}}", 8), "has 8 bytes, but its shape needs 4"},
      {file_of("{\"a\":{" + x + "[0,4]}}", 3), "is outside the file"},
      {file_of("{\"a\":{" + x + "[4,0]}}", 4), "is outside the file"},
      {file_of("{\"a\":{" + x + "[-4,0]}}", 4), "not a non-negative integer"},
      {file_of("{\"a\":{" + x + "[0.0,4]}}", 4), "not a non-negative integer"},
      {file_of("{\"a\":{" + x + "[0]}}", 4), "is not a list"},
      {file_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0), "invalid shape"},
      {file_of(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), "not a non-negative integer"},
      {file_of(R"({"a":{"dtype":"F32","shape":{"x":1},"data_offsets":[0,4]}})", 4), "is not a list"},
      {file_of(R"({"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})", 4), "tensor 'a' has element type BF16"},
      {file_of(R"({"a":{"dtype":7,"shape":[2],"data_offsets":[0,4]}})", 4), "element type 7"},
      {file_of(R"({"__metadata__":{"k":1}})", 0), "'k' is not text"},
      {file_of(R"({"__metadata__":[]})", 0), "__metadata__ is not an object"},
  };
  const Folder folder;
  for (const auto& [bytes, message] : cases) {
    write_file_atomically(folder / "a", bytes);
    const std::string error = file_error([&] { read_safetensors(folder / "a"); });
    EXPECT_NE(error.find(message), std::string::npos) << error;
    EXPECT_NE(error.find(folder / "a"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace molgraph
