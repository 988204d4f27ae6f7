// NumPy's .npy and .npz files, written as a stream of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace molgraph {

enum class FloatKind : std::uint8_t { float32, float16 };

/// IEEE 754 binary16 of a float, rounded to the nearest, ties to even; too large becomes infinity, NaN stays NaN.
std::uint16_t float16_bits(float value);

/// Appends rows of a matrix [rows, columns] to a .npy file; the header is patched in finish(), which also renames.
/// Destroyed without finish(), it leaves nothing. Throws FileError.
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
/// numpy.load without pickles. numpy pads every string to the longest: where that would take more than 16 MiB and four
/// times the mean length, longer ones are cut in NAME, and all stand whole in `NAME_utf8` (uint8) and `NAME_offsets`
/// (int64 [rows + 1]), with a word about it in the array `NAME_note`. The strings wait in nameless files beside `path`
/// until their longest is known, so memory stays constant; atomic. Embeddings are stored as they are, strings deflated;
/// every member has zip64 sizes.
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

/// An .npz with one array [values], float32; atomic.
void write_npz_vector(const std::string& path, const std::string& name, std::span<const float> values);

}  // namespace molgraph
