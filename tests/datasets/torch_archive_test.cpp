// State dicts of torch.save: real archives, round trips, and malicious pickles and zip files.
#include "datasets/archives/torch_archive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "datasets/archives/pickle_subset.hpp"
#include "datasets/archives/zip_archive.hpp"
#include "datasets/system/files.hpp"
#include "featurize/graph/error.hpp"
#include "tests/datasets/scratch_folder.hpp"
#include "tests/datasets/state_dict_pickles.hpp"

namespace molgraph::testing {
namespace {

const std::string kArchives = MOLGRAPH_ARCHIVES_DIR "/";

std::vector<float> floats(const StoredTensor& tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

template <class T>
std::vector<T> numbers(const StoredTensor& tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// Error message of reading the file, or "" if it can be read.
std::string error_of(const std::string& path) {
  try {
    read_state_dict(path);
    return {};
  } catch (const FileError& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.what();
  }
}

/// error_of() for an archive of this pickle and a storage "0" of `storage_bytes` bytes.
std::string error_of_pickle(const std::string& pickle, std::size_t storage_bytes = 24) {
  const ScratchFolder folder;
  write_archive(folder.file("a.pt"), pickle, storage_bytes);
  return error_of(folder.file("a.pt"));
}

#define EXPECT_REFUSED(error, part) EXPECT_NE((error).find(part), std::string::npos) << "message: " << (error)

// --- archives that PyTorch 2.11 wrote (archives/make_archives.py) ---

TEST(TorchArchive, ReadsArchivesOfPyTorch) {
  for (const char* name : {"plain.pt", "under_model.pt", "under_state_dict.pt"}) {
    const auto tensors = read_state_dict(kArchives + name);
    ASSERT_EQ(tensors.size(), 2u) << name;
    EXPECT_EQ(tensors.at("layer.weight").shape, (std::vector<std::int64_t>{2, 3})) << name;
    EXPECT_EQ(floats(tensors.at("layer.weight")), (std::vector<float>{0, 1, 2, 3, 4, 5})) << name;
    EXPECT_EQ(floats(tensors.at("layer.bias")), (std::vector<float>{-1, 0.5})) << name;
  }
}

TEST(TorchArchive, ReadsEveryElementType) {
  const auto tensors = read_state_dict(kArchives + "types.pt");
  EXPECT_EQ(numbers<double>(tensors.at("float64")), (std::vector<double>{1.5, -2, 3e300}));
  const std::vector<float> half = floats(tensors.at("float16"));
  ASSERT_EQ(half.size(), 6u);
  EXPECT_EQ(half[0], 1.5f);
  EXPECT_EQ(half[1], -65504.0f);
  EXPECT_EQ(half[2], std::ldexp(1.0f, -24));  // the smallest subnormal
  EXPECT_EQ(half[3], std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(half[4]));
  EXPECT_TRUE(half[5] == 0 && std::signbit(half[5]));
  EXPECT_EQ(floats(tensors.at("bfloat16")), (std::vector<float>{1.5, -3}));
  EXPECT_EQ(numbers<std::int64_t>(tensors.at("int64")), (std::vector<std::int64_t>{-7, 1LL << 40}));
  EXPECT_EQ(numbers<std::int32_t>(tensors.at("int32")), (std::vector<std::int32_t>{-8}));
  EXPECT_EQ(numbers<std::int32_t>(tensors.at("int16")), (std::vector<std::int32_t>{-300, 300}));
  EXPECT_EQ(numbers<std::int32_t>(tensors.at("int8")), (std::vector<std::int32_t>{-5, 100}));
  EXPECT_EQ(numbers<std::uint8_t>(tensors.at("uint8")), (std::vector<std::uint8_t>{200}));
  EXPECT_EQ(numbers<std::uint8_t>(tensors.at("bool")), (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(tensors.at("scalar").shape, std::vector<std::int64_t>{});
  EXPECT_EQ(floats(tensors.at("scalar")), (std::vector<float>{42}));
  EXPECT_EQ(tensors.at("empty").shape, (std::vector<std::int64_t>{0, 4}));
}

TEST(TorchArchive, ReadsViewsAndSharedStorages) {
  const auto tensors = read_state_dict(kArchives + "views.pt");
  EXPECT_EQ(floats(tensors.at("whole")), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(tensors.at("transposed").shape, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(floats(tensors.at("transposed")), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(floats(tensors.at("column")), (std::vector<float>{1, 4}));
  EXPECT_EQ(floats(tensors.at("same")), floats(tensors.at("whole")));
}

TEST(TorchArchive, ErrorNamesContentThatIsNotATensor) {
  EXPECT_REFUSED(error_of(kArchives + "with_namespace.pt"), "argparse.Namespace");
  EXPECT_REFUSED(error_of(kArchives + "whole_module.pt"), "'torch.nn.modules.linear.Linear' is not allowed");
  EXPECT_REFUSED(error_of(kArchives + "old_format.pt"), "before 1.6");
  EXPECT_REFUSED(error_of(kArchives + "script.pt"), "TorchScript");
  EXPECT_REFUSED(error_of(kArchives + "nested.pt"), "'encoder', 'step'");
  EXPECT_REFUSED(error_of(kArchives + "expanded.pt"), "more elements than its storage");
}

TEST(TorchArchive, ReadsSafetensorsToo) {
  const ScratchFolder folder;
  const float values[] = {1, 2};
  write_safetensors(folder.file("a.safetensors"), {}, {{"w", DType::f32, {2}, values}});
  EXPECT_EQ(floats(read_state_dict(folder.file("a.safetensors")).at("w")), (std::vector<float>{1, 2}));
}

// --- archives written by molgraph ---

TEST(TorchArchive, RoundTripsEveryType) {
  const ScratchFolder folder;
  const double f64[] = {1.5, -0.0};
  const float f32[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t i64[] = {-7};
  const std::int32_t i32[] = {8, 9, 10};
  const std::uint8_t u8[] = {11, 12, 13};
  const std::vector<TensorView> tensors{{"b.f32", DType::f32, {2, 3}, f32}, {"a.u8", DType::u8, {3}, u8},
                                        {"z.f64", DType::f64, {2}, f64},    {"scalar", DType::i64, {}, i64},
                                        {"c.i32", DType::i32, {3, 1}, i32}, {"none", DType::f32, {0, 5}, nullptr}};
  write_state_dict(folder.file("a.pt"), tensors);
  write_state_dict(folder.file("b.pt"), tensors);
  EXPECT_TRUE(read_file(folder.file("a.pt")) == read_file(folder.file("b.pt")));
  const auto back = read_state_dict(folder.file("a.pt"));
  ASSERT_EQ(back.size(), tensors.size());
  for (const TensorView& view : tensors) {
    const StoredTensor& stored = back.at(view.name);
    EXPECT_EQ(stored.dtype, view.dtype) << view.name;
    EXPECT_EQ(stored.shape, view.shape) << view.name;
    ASSERT_EQ(stored.bytes.size(), static_cast<std::size_t>(stored.count()) * size_of(view.dtype)) << view.name;
    const auto* written = static_cast<const std::byte*>(view.data);
    EXPECT_EQ(stored.bytes, std::vector<std::byte>(written, written + stored.bytes.size())) << view.name;
  }
  EXPECT_THROW(write_state_dict(folder.file("no/such/folder/a.pt"), tensors), FileError);
}

// --- malicious pickles ---

TEST(HostilePickle, ValidPickleIsRead) {
  EXPECT_EQ(error_of_pickle(state_dict_of({tensor_pickle({2, 3}, {3, 1})})), "");
  EXPECT_EQ(error_of_pickle(state_dict_of({tensor_pickle({2, 3}, {1, 2})})), "");
}

TEST(HostilePickle, NamesAreNeverCalled) {
  EXPECT_REFUSED(error_of_pickle("\x80\x02"
                                 "cos\nsystem\n(X\x02" +
                                 std::string(3, '\0') + "lstR."),
                 "'os.system' is not allowed");
  EXPECT_REFUSED(error_of_pickle("\x80\x04\x8c\x08"
                                 "builtins\x8c\x04"
                                 "eval\x93."),
                 "'builtins.eval' is not allowed");
  EXPECT_REFUSED(error_of_pickle("\x80\x02"
                                 "ctorch\nFloatStorage\n)R."),
                 "'torch.FloatStorage' is called");
  EXPECT_REFUSED(error_of_pickle("\x80\x02"
                                 "ccollections\nOrderedDict\n)\x81."),
                 "opcode 0x81");
  EXPECT_REFUSED(error_of_pickle("\x80\x02i__main__\nThing\n."), "opcode 0x69");
}

TEST(HostilePickle, TensorsMustBeInsideTheirStorage) {
  const auto error = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, std::int64_t offset = 0,
                        std::int64_t count = 6) {
    return error_of_pickle(state_dict_of({tensor_pickle(sizes, strides, offset, count)}));
  };
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_REFUSED(error({2, 3}, {3, 1}, 1), "reaches beyond");
  EXPECT_REFUSED(error({2, 3}, {4, 1}), "reaches beyond");
  EXPECT_REFUSED(error({2}, {kHuge}), "reaches beyond");
  EXPECT_REFUSED(error({1}, {1}, kHuge), "reaches beyond");
  EXPECT_REFUSED(error({7}, {1}, 0, 7), "a storage of 7 elements in 24 bytes");
  EXPECT_REFUSED(error({1}, {1}, 0, kHuge), "a storage of");
  EXPECT_REFUSED(error({kHuge}, {0}), "more elements than its storage");
  EXPECT_REFUSED(error({kHuge, kHuge}, {0, 0}), "more elements than its storage");
  EXPECT_REFUSED(error({1000000, 1000000}, {0, 0}), "more elements than its storage");
  EXPECT_REFUSED(error({-1}, {1}), "negative");
  EXPECT_REFUSED(error({2}, {-1}), "negative");
  EXPECT_REFUSED(error({2, 3}, {1}), "invalid layout");
  EXPECT_REFUSED(error({1}, {1}, -1), "invalid layout");
  EXPECT_REFUSED(error(std::vector<std::int64_t>(100, 1), std::vector<std::int64_t>(100, 1)), "64 dimensions");
  EXPECT_REFUSED(error({kHuge, 0}, {kHuge, kHuge}), "more elements than its storage");
  EXPECT_EQ(error({0, 3}, {kHuge, kHuge}), "") << "no element is outside";
}

TEST(HostilePickle, StoragesMustBeRecordsOfTheArchive) {
  for (const char* key : {"1", "../data.pkl", "0/../0", "", "a b"}) {
    const std::string error = error_of_pickle(state_dict_of({tensor_pickle({1}, {1}, 0, 1, key)}));
    EXPECT_NE(error, "") << key;
  }
  EXPECT_REFUSED(error_of_pickle(state_dict_of({tensor_pickle({1}, {1}, 0, 1, "0", "ComplexFloatStorage")})),
                 "are not supported");
  EXPECT_REFUSED(error_of_pickle(state_dict_of({tensor_pickle({1}, {1}, 0, 1, "0", "Size")})), "are not supported");
}

// A thousand tensors of one storage would need a thousand copies.
TEST(HostilePickle, CopiesOfOneStorageAreLimited) {
  const std::vector<std::string> many(1000, tensor_pickle({100000}, {1}, 0, 100000));
  EXPECT_REFUSED(error_of_pickle(state_dict_of(many), 400000), "much larger than their storages");
}

TEST(HostilePickle, CyclesAndDeepNestingAreErrors) {
  // A list that contains itself; a dict that is its own value; almost a million nested tuples; too many values.
  EXPECT_REFUSED(error_of_pickle(std::string("\x80\x02]q\0h\0a.", 9)), "it is not a dict");
  EXPECT_REFUSED(error_of_pickle(std::string("\x80\x02}q\0X\1\0\0\0ah\0s.", 15)), "the keys 'a'");
  EXPECT_REFUSED(error_of_pickle("\x80\x02N" + std::string(900'000, '\x85') + "."), "it is not a dict");
  EXPECT_REFUSED(error_of_pickle("\x80\x02" + std::string(1'500'000, 'N') + "."), "more than 1000000 values");
}

TEST(HostilePickle, DamagedPicklesAreErrors) {
  const std::string good = state_dict_of({tensor_pickle({2, 3}, {3, 1})});
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(error_of_pickle(good.substr(0, length)), "") << length;
  EXPECT_REFUSED(error_of_pickle("\x80\x01N."), "protocol 1");
  EXPECT_REFUSED(error_of_pickle("\x80\x02NN."), "unused values");
  EXPECT_REFUSED(error_of_pickle("\x80\x02(."), "unused values");
  EXPECT_REFUSED(error_of_pickle("\x80\x02t."), "mark is missing");
  EXPECT_REFUSED(error_of_pickle("\x80\x02R."), "left on its stack");
  EXPECT_REFUSED(error_of_pickle("\x80\x02(0."), "left on its stack");
  EXPECT_REFUSED(error_of_pickle("\x80\x02h\x07."), "memo 7");
  EXPECT_REFUSED(error_of_pickle("\x80\x02X\xff\xff\xff\xff."), "ends early");
  EXPECT_REFUSED(error_of_pickle("\x80\x02\x8b\xff\xff\xff\x7f."), "integer of");
  EXPECT_REFUSED(error_of_pickle("\x80\x02NQ."), "persistent id");
  EXPECT_REFUSED(error_of_pickle("\x80\x02}(Nu."), "key without a value");
  EXPECT_REFUSED(error_of_pickle("\x80\x02NNa."), "of the wrong kind");
  EXPECT_REFUSED(error_of_pickle("\x80\x02}."), "no keys");
  EXPECT_REFUSED(error_of_pickle("\x80\x02"
                                 "cos.path"),
                 "ends early");
}

TEST(HostilePickle, DuplicateNamesAreErrors) {
  const std::string tensor = tensor_pickle({1}, {1});
  EXPECT_REFUSED(error_of_pickle("\x80\x02}(" + text_pickle("w") + tensor + text_pickle("w") + tensor + "u."),
                 "occurs twice");
}

// --- malicious zip files ---

TEST(HostileZip, DamagedBytesAreErrorsOrDoNotChangeTheTensor) {
  const ScratchFolder folder;
  write_archive(folder.file("good.pt"), state_dict_of({tensor_pickle({2, 3}, {3, 1})}), 24);
  const std::string good = read_file(folder.file("good.pt"));
  const auto expected = read_state_dict(folder.file("good.pt")).at("t0").bytes;
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    folder.write("bad.pt", bad);
    try {
      const auto tensors = read_state_dict(folder.file("bad.pt"));
      ASSERT_EQ(tensors.size(), 1u) << at;
      EXPECT_EQ(tensors.begin()->second.bytes, expected) << at;  // the byte is part of a date or an attribute
    } catch (const FileError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(good.size()) / 2);
}

TEST(HostileZip, TruncatedAndOtherFilesAreErrors) {
  const ScratchFolder folder;
  write_archive(folder.file("good.pt"), state_dict_of({tensor_pickle({2, 3}, {3, 1})}), 24);
  const std::string good = read_file(folder.file("good.pt"));
  for (std::size_t length = 0; length < good.size(); length += 7)
    EXPECT_NE(error_of(folder.write("cut.pt", good.substr(0, length))), "") << length;
  EXPECT_REFUSED(error_of(folder.write("text.pt", "smiles,y\nCCO,1\n")), "neither an archive");
  EXPECT_REFUSED(error_of(folder.write("empty.pt", "")), "neither an archive");
  EXPECT_NE(error_of(folder.file("absent.pt")), "");
}

TEST(HostileZip, CompressedMembersAndDuplicateNamesAreErrors) {
  EXPECT_REFUSED(error_of(kArchives + "deflated.pt"), "is compressed");
  EXPECT_REFUSED(error_of(kArchives + "bomb.pt"), "is compressed");
  EXPECT_REFUSED(error_of(kArchives + "doubled.pt"), "twice");
}

TEST(HostileZip, MissingAndInvalidRecordsAreErrors) {
  const ScratchFolder folder;
  const std::string pickle = state_dict_of({tensor_pickle({2, 3}, {3, 1})});
  const auto error = [&](const std::vector<ZipMember>& members) {
    write_zip(folder.file("a.pt"), members);
    return error_of(folder.file("a.pt"));
  };
  const std::string zeros(24, '\0');
  const ZipMember data{"a/data.pkl", pickle.data(), pickle.size()}, storage{"a/data/0", zeros.data(), 24};
  EXPECT_EQ(error({data, storage}), "");
  EXPECT_REFUSED(error({data}), "no member 'a/data/0'");
  EXPECT_REFUSED(error({storage}), "no data.pkl");
  EXPECT_REFUSED(error({data, storage, {"b/data.pkl", pickle.data(), pickle.size()}}), "several data.pkl");
  EXPECT_REFUSED(error({data, storage, {"a/byteorder", "big", 3}}), "little-endian");
  EXPECT_REFUSED(error({data, {"a/data/0", zeros.data(), 23}}), "a storage of 6 elements in 23 bytes");
  const std::string large(kMaxPickleBytes + 1, 'N');
  EXPECT_REFUSED(error({{"a/data.pkl", large.data(), large.size()}, storage}), "too large");
}

using Indices = std::map<std::string, std::vector<std::int64_t>>;

TEST(TorchArchive, ReadsRowNumbersAsTensorsAndNumpyArrays) {
  const Indices expected{
      {"train", {5, 0, 300, std::int64_t{1} << 33}}, {"valid", {1}}, {"test-dev", {200, 3}}, {"test-challenge", {}}};
  for (const char* name : {"split_tensors.pt", "split_arrays.pt"})
    EXPECT_EQ(read_index_dict(std::string(MOLGRAPH_ARCHIVES_DIR) + "/" + name), expected) << name;
  EXPECT_THROW(read_index_dict(std::string(MOLGRAPH_ARCHIVES_DIR) + "/plain.pt"), FileError);
  EXPECT_THROW(read_index_dict(std::string(MOLGRAPH_ARCHIVES_DIR) + "/nested.pt"), FileError);
  EXPECT_THROW(read_state_dict(std::string(MOLGRAPH_ARCHIVES_DIR) + "/split_arrays.pt"), FileError);
}

/// The pickle of {"train": numpy.arange(count)}, protocol 3.
std::string pickle_of_arange(std::uint32_t count) {
  const auto little = [](std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t b = 0; b < bytes; ++b) text += static_cast<char>(value >> 8 * b & 0xFFu);
    return text;
  };
  const auto word = [&](const std::string& text) { return "X" + little(text.size(), 4) + text; };
  std::string numbers;
  for (std::uint64_t k = 0; k < count; ++k) numbers += little(k, 8);
  using namespace std::string_literals;
  return "\x80\x03}"s + word("train") + "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85"s + "C\x01" +
         "b\x87R(K\x01J"s + little(count, 4) + "\x85" + "cnumpy\ndtype\n"s + word("i8") + "\x89\x88\x87R(K\x03"s +
         word("<") + "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89"s + "B" + little(numbers.size(), 4) + numbers +
         "tbs.";
}

TEST(TorchArchive, ReadsMillionsOfRowNumbers) {
  const ScratchFolder folder;
  const std::string pickle = pickle_of_arange(3'000'000), path = folder.file("split_dict.pt");
  ASSERT_GT(pickle.size(), kMaxPickleBytes);
  write_zip(path, {{"archive/data.pkl", pickle.data(), pickle.size()}});
  const Indices indices = read_index_dict(path);
  ASSERT_EQ(indices.at("train").size(), 3'000'000u);
  EXPECT_EQ(indices.at("train").back(), 2'999'999);
  EXPECT_THROW(read_state_dict(path), FileError);
}

}  // namespace
}  // namespace molgraph::testing
