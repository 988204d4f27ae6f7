// HDF5 1.10 divides by the chunk sizes in a file, so a zero ends the program with SIGFPE. A checksum gives no
// protection, because the author of a malicious file can compute it. The description of a data set is therefore checked
// here first.
// Source of the layouts: HDF5 File Format Specification 3.0, sections IV.A.1.a (object header prefix, version 1),
// IV.A.2.b (dataspace) and IV.A.2.i (data layout, version 3).
#include "datasets/store/store_columns.hpp"

#include <cstring>
#include <span>

namespace molgraph::store_layout {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::uint64_t kMaxDescriptionBytes = 1 << 16;
constexpr std::size_t kPrefixBytes = 16, kMessagePrefixBytes = 8;
constexpr unsigned kDataspace = 0x0001, kLayout = 0x0008, kContinuation = 0x0010;
constexpr unsigned kContiguous = 1, kChunked = 2;

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

std::uint32_t number(Bytes bytes, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  for (std::size_t b = 0; b < width; ++b) value |= static_cast<std::uint32_t>(bytes[at + b]) << 8 * b;
  return value;
}

/// Version 3: [version, class, dimensions + 1, address of the index (8), one size (4) per dimension and one for an
/// element].
std::string check_chunks(Bytes layout, int rank) {
  constexpr std::size_t sizes_at = 11;
  if (layout.size() < 2 || layout[0] != 3) return "an unsupported layout version";
  if (rank == 0) return layout[1] == kContiguous ? "" : "unexpected chunks";
  if (layout[1] != kChunked) return "invalid chunks";
  const auto sizes = static_cast<std::size_t>(rank) + 1;
  if (layout.size() < sizes_at + 4 * sizes) return "invalid chunks";
  if (layout[2] != sizes) return "the wrong shape";
  for (std::size_t s = 0; s < sizes; ++s) {
    if (number(layout, sizes_at + 4 * s, 4) == 0) return "invalid chunks";
  }
  return "";
}

/// Versions 1 and 2 both begin with [version, rank].
std::string check_dataspace(Bytes space, int rank) {
  if (space.size() < 2) return "no shape";
  return rank > 0 && space[1] != rank ? "the wrong shape" : "";
}

std::string check_messages(Bytes messages, int rank) {
  bool layout_seen = false, space_seen = false;
  for (std::size_t at = 0; at + kMessagePrefixBytes <= messages.size();) {
    const unsigned type = number(messages, at, 2), bytes = number(messages, at + 2, 2);
    at += kMessagePrefixBytes;
    if (bytes > messages.size() - at) return "an object header with a message beyond its end";
    const Bytes body = messages.subspan(at, bytes);
    at += bytes;
    std::string problem;
    if (type == kContinuation) return "an object header in several blocks";
    if (type == kLayout) {
      if (layout_seen) return "two layouts";
      layout_seen = true;
      problem = check_chunks(body, rank);
    }
    if (type == kDataspace) {
      if (space_seen) return "two shapes";
      space_seen = true;
      problem = check_dataspace(body, rank);
    }
    if (!problem.empty()) return problem;
  }
  if (!layout_seen) return "no layout";
  return space_seen ? "" : "no shape";
}

}  // namespace

std::string why_not_open(File& file, hid_t group, const std::string& name, int rank) {
  ObjectInfo info;
  std::memset(&info, 0, sizeof info);
  const unsigned fields = H5O_INFO_BASIC | H5O_INFO_HDR;
  if (H5Oget_info_by_name2(group, name.c_str(), &info, fields, H5P_DEFAULT) < 0) return "no object header";
  if (info.type != H5O_TYPE_DATASET) return "no data";
  if (info.hdr.version != 1) return "an unsupported object header version";
  std::vector<unsigned char> header(kPrefixBytes);
  const std::uint64_t at = kUserBlock + static_cast<std::uint64_t>(info.addr);
  if (file.read_at(at, header.data(), header.size()) != header.size() || header[0] != 1) return "no object header";
  const std::uint64_t bytes = number(header, 8, 4);
  if (bytes > kMaxDescriptionBytes) return "an object header of invalid size";
  std::vector<unsigned char> messages(bytes);
  if (file.read_at(at + kPrefixBytes, messages.data(), bytes) != bytes)
    return "an object header beyond the end of the file";
  return check_messages(messages, rank);
}

}  // namespace molgraph::store_layout
