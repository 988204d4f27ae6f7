// NumPy's .npy and .npz files, written as a stream of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace molgraph {

enum class FloatKind : std::uint8_t { float32, float16 };

/// Appends rows of a matrix [rows, columns] to a .npy file; the header is patched in finish(), which also renames.
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
/// numpy.load without pickles. Spills to temporary files beside `path`, so memory stays constant; atomic.
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

}  // namespace molgraph
