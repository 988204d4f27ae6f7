// Format: numpy.lib.format (NPY version 1.0).
#include "datasets/archives/npy.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <vector>

#include "datasets/archives/npy_format.hpp"
#include "datasets/archives/zip_archive.hpp"
#include "datasets/system/files.hpp"

namespace molgraph {

static_assert(std::endian::native == std::endian::little, "the format is little-endian, values are copied unchanged");

namespace npy_format {

std::array<char, kNpyHeader> npy_header(const std::string& descr, std::int64_t rows, std::int64_t columns) {
  const std::string shape = columns < 0 ? "(" + std::to_string(rows) + ",)"
                                        : "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
  const std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  constexpr std::size_t preamble = 10;
  std::array<char, kNpyHeader> header;
  header.fill(' ');
  assert(text.size() < kNpyHeader - preamble);
  std::memcpy(header.data(), "\x93NUMPY\x01\x00", 8);
  header[8] = static_cast<char>(kNpyHeader - preamble);  // 16 bits, little-endian
  header[9] = 0;
  std::memcpy(header.data() + preamble, text.data(), text.size());
  header.back() = '\n';
  return header;
}

std::string descr_of(FloatKind kind) { return kind == FloatKind::float16 ? "<f2" : "<f4"; }

void append_row(std::vector<char>& to, std::span<const float> row, FloatKind kind) {
  const std::size_t at = to.size();
  if (kind == FloatKind::float32) {
    to.resize(at + row.size_bytes());
    if (!row.empty()) std::memcpy(to.data() + at, row.data(), row.size_bytes());
    return;
  }
  to.resize(at + row.size() * sizeof(std::uint16_t));
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::uint16_t half = float16_bits(row[i]);
    std::memcpy(to.data() + at + i * sizeof half, &half, sizeof half);
  }
}

}  // namespace npy_format

using namespace npy_format;

std::uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16u & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u);   // NaN, quiet
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // 65520 and above round to infinity
  if (magnitude < 0x38800000u) {
    // Below 2^-14, the step is 2^-24. Adding 0.5 aligns the float's last bit with that step; the processor rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  // 13 bits of the fraction are dropped. Half a step minus one, plus the last kept bit, carries exactly when rounding
  // up.
  const std::uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13u & 1u);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000u) >> 13u));
}

struct NpyWriter::State {
  AtomicFile out;
  std::int64_t columns, rows = 0;
  FloatKind kind;
  std::vector<char> buffer;
};

NpyWriter::NpyWriter(const std::string& path, std::int64_t columns, FloatKind kind)
    : state_(new State{AtomicFile(path), columns, 0, kind, {}}) {
  const auto header = npy_header(descr_of(kind), 0, columns);
  state_->out.file().write(header.data(), header.size());
}

NpyWriter::~NpyWriter() = default;

void NpyWriter::add_row(std::span<const float> row) {
  assert(static_cast<std::int64_t>(row.size()) == state_->columns);
  append_row(state_->buffer, row, state_->kind);
  ++state_->rows;
  if (state_->buffer.size() < kBuffer) return;
  state_->out.file().write(state_->buffer.data(), state_->buffer.size());
  state_->buffer.clear();
}

void NpyWriter::finish() {
  state_->out.file().write(state_->buffer.data(), state_->buffer.size());
  const auto header = npy_header(descr_of(state_->kind), state_->rows, state_->columns);
  state_->out.file().write_at(0, header.data(), header.size());
  state_->out.commit();
}

void write_npz_vector(const std::string& path, const std::string& name, std::span<const float> values) {
  const auto header = npy_header(descr_of(FloatKind::float32), static_cast<std::int64_t>(values.size()), -1);
  std::vector<char> bytes(header.begin(), header.end());
  append_row(bytes, values, FloatKind::float32);
  write_zip(path, {{name + ".npy", bytes.data(), bytes.size()}});
}

}  // namespace molgraph
