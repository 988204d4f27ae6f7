#include "datasets/store/store_layout.hpp"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

#include "featurize/graph/error.hpp"

namespace molgraph::store_layout {
namespace {

static_assert(std::endian::native == std::endian::little, "stores are little-endian, values are copied unchanged");

using Block = std::array<unsigned char, kUserBlock>;

constexpr std::size_t kVersionAt = 16, kSizeAt = 20, kLengthAt = 24, kChecksumAt = 32, kTextAt = 64,
                      kHeaderChecksumAt = 504;
constexpr std::string_view kText = "molgraph store of molecules; HDF5 begins at byte 512\n";

template <typename Number>
void put(Block& block, std::size_t at, Number value) {
  std::memcpy(block.data() + at, &value, sizeof value);
}

template <typename Number>
Number get(const Block& block, std::size_t at) {
  Number value;
  std::memcpy(&value, block.data() + at, sizeof value);
  return value;
}

std::uint64_t header_checksum(const Block& block) { return XXH3_64bits(block.data(), kHeaderChecksumAt); }

/// XXH3-64 from the file's position to its end.
std::uint64_t checksum_of_rest(File& file) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_64bits_reset(state.get());
  std::vector<char> buffer(std::size_t{1} << 20);
  while (const std::size_t got = file.read(buffer.data(), buffer.size()))
    XXH3_64bits_update(state.get(), buffer.data(), got);
  return XXH3_64bits_digest(state.get());
}

std::recursive_mutex& session_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

}  // namespace

void write_user_block(File& file) {
  Block block{};
  file.rewind();
  (void)file.read(block.data(), block.size());  // moves to the first byte of the checksum
  block.fill(0);
  std::memcpy(block.data(), kMagic.data(), kMagic.size());
  put(block, kVersionAt, kFormatVersion);
  put(block, kSizeAt, static_cast<std::uint32_t>(kUserBlock));
  put(block, kLengthAt, file.size());
  put(block, kChecksumAt, checksum_of_rest(file));
  std::memcpy(block.data() + kTextAt, kText.data(), kText.size());
  put(block, kHeaderChecksumAt, header_checksum(block));
  file.write_at(0, block.data(), block.size());
}

std::uint64_t check_user_block(File& file) {
  const std::string& path = file.path();
  Block block{};
  file.rewind();
  const std::size_t got = file.read(block.data(), block.size());
  if (got < kMagic.size() || std::memcmp(block.data(), kMagic.data(), kMagic.size()) != 0) {
    throw FileError(path + ": not a molgraph store (wrong first bytes)");
  }
  if (got < block.size()) throw FileError(path + ": truncated store: only " + std::to_string(got) + " bytes");
  const auto version = get<std::uint32_t>(block, kVersionAt);
  if (version != kFormatVersion) {
    throw FileError(path + ": store format version " + std::to_string(version) + "; this program reads version " +
                    std::to_string(kFormatVersion) + ": featurise the source again");
  }
  if (get<std::uint64_t>(block, kHeaderChecksumAt) != header_checksum(block)) {
    throw FileError(path + ": damaged store: wrong header checksum");
  }
  const auto written = get<std::uint64_t>(block, kLengthAt);
  if (const std::uint64_t bytes = file.size(); bytes != written) {
    throw FileError(path + (bytes < written ? ": truncated store: " : ": damaged store: ") + std::to_string(bytes) +
                    " bytes, but " + std::to_string(written) + " were written");
  }
  if (checksum_of_rest(file) != get<std::uint64_t>(block, kChecksumAt))
    throw FileError(path + ": damaged store: wrong checksum");
  return written;
}

Session::Session() : lock_(session_mutex()) {
  // At exit, HDF5 tries again to close what it could not close before, for example a data set on a full disk, and
  // crashes (1.10.8, H5D_close). Handles close everything in time, and a file that could not be written is discarded
  // anyway.
  static const herr_t no_exit_handler = H5dont_atexit();  // effective only before HDF5's first call
  (void)no_exit_handler;
  H5Eget_auto2(H5E_DEFAULT, &old_function_, &old_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() { H5Eset_auto2(H5E_DEFAULT, old_function_, old_data_); }

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, -1);
  }
  return *this;
}

Handle::~Handle() { reset(); }

void Handle::reset() {
  if (id_ < 0) return;
  const Session session;
  // Decreasing the reference count works for every kind of identifier; at zero, HDF5 closes the object.
  H5Idec_ref(std::exchange(id_, -1));
}

Handle checked(hid_t id, const std::string& path, const std::string& what) {
  if (id < 0) throw FileError(path + ": " + what);
  return Handle(id);
}

void check(herr_t status, const std::string& path, const std::string& what) {
  if (status < 0) throw FileError(path + ": " + what);
}

void check_written(herr_t status, const std::string& path, const std::string& what) {
  if (status >= 0) return;
  const int error = errno;  // from the library's write()
  const bool known = error == ENOSPC || error == EFBIG || error == EDQUOT || error == EROFS || error == EIO;
  throw FileError(path + ": " + what + (known ? std::string(": ") + std::strerror(error) : " (is the disk full?)"));
}

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::u8:
    case Element::i8: return 1;
    case Element::u16: return 2;
    case Element::i64: return 8;
    case Element::f32: return 4;
    case Element::f64: return 8;
  }
  return 0;
}

hid_t type_of(Element element) {
  switch (element) {
    case Element::u8: return H5T_STD_U8LE;
    case Element::i8: return H5T_STD_I8LE;
    case Element::u16: return H5T_STD_U16LE;
    case Element::i64: return H5T_STD_I64LE;
    case Element::f32: return H5T_IEEE_F32LE;
    case Element::f64: return H5T_IEEE_F64LE;
  }
  return -1;
}

Handle file_access(const std::string& path) {
  Handle access = checked(H5Pcreate(H5P_FILE_ACCESS), path, "HDF5 cannot be initialised");
  check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), path, "HDF5 rejects a file setting");
#if H5_VERSION_GE(1, 10, 7)
  check(H5Pset_file_locking(access.get(), false, true), path, "HDF5 rejects a file setting");
#endif
  return access;
}

}  // namespace molgraph::store_layout
