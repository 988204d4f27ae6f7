// Shared by the writers of .npy and .npz. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/archives/npy.hpp"

namespace molgraph::npy_format {

inline constexpr std::size_t kNpyHeader = 128;                // bytes; enough for any shape, so that it can be updated
inline constexpr std::size_t kBuffer = std::size_t{1} << 18;  // bytes collected before a write

/// Returns the header of an array with element type `descr`; `columns` < 0 = one-dimensional.
std::array<char, kNpyHeader> npy_header(const std::string& descr, std::int64_t rows, std::int64_t columns);
/// Returns "<f4" or "<f2".
std::string descr_of(FloatKind kind);
/// Appends a row in the file's element type.
void append_row(std::vector<char>& to, std::span<const float> row, FloatKind kind);

}  // namespace molgraph::npy_format
