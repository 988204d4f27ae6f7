// NumPy's .npy and .npz files, written as streams of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace molgraph {

enum class FloatKind : std::uint8_t { float32, float16 };

/// Converts a float to IEEE 754 binary16, rounded to nearest, ties to even. Values that are too large become infinity;
/// NaN stays NaN.
std::uint16_t float16_bits(float value);

/// Appends rows of a matrix [rows, columns] to a .npy file. finish() updates the header and renames the file. If the
/// object is destroyed without finish(), no file remains. Throws FileError.
class NpyWriter {
 public:
  NpyWriter(const std::string& path, std::int64_t columns, FloatKind kind);
  ~NpyWriter();
  void add_row(std::span<const float> row);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// An .npz with arrays `embeddings` [rows, columns], `ids`, `smiles`, `status` (numpy unicode strings), readable with
/// numpy.load without pickles. numpy pads every string to the longest. If this would take more than 16 MiB and four
/// times the mean length, longer strings are truncated in NAME. The complete texts are then in `NAME_utf8` (uint8) and
/// `NAME_offsets` (int64 [rows + 1]), with an explanation in the array `NAME_note`. The strings are kept in unnamed
/// files in the folder of `path` until the longest is known, so memory is constant. Writing is atomic. Embeddings are
/// stored uncompressed, strings deflated; every member has zip64 sizes.
class NpzWriter {
 public:
  NpzWriter(const std::string& path, std::int64_t columns, FloatKind kind);
  ~NpzWriter();
  void add_row(std::span<const float> row, const std::string& id, const std::string& smiles, const std::string& status);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Writes an .npz with one array [values], float32. Writing is atomic.
void write_npz_vector(const std::string& path, const std::string& name, std::span<const float> values);

}  // namespace molgraph
