// Products of bfloat16 numbers on the processor's tiles (Intel AMX).
#pragma once

#include <cstddef>
#include <cstdint>

namespace molgraph::cpu {

inline constexpr std::size_t kTileRows = 16;   ///< also the pairs of the depth in a tile of the right factor
inline constexpr std::size_t kTileDepth = 32;  ///< bfloat16 numbers in a row of a tile

/// left [rows, depth] times right [depth, columns]; the depth is padded with zeros to `steps` tiles. For speed, all
/// arrays should begin at a cache line.
struct TileProduct {
  const std::uint16_t* left = nullptr;  ///< [rows, steps * kTileDepth]
  std::size_t rows = 0, steps = 0;
  const std::uint16_t* right = nullptr;  ///< panels of pack_bf16()
  std::size_t columns = 0;               ///< a multiple of kBlock
  const float* bias = nullptr;           ///< [columns]; null = none
  float* y = nullptr;                    ///< [rows, columns]
  std::size_t y_stride = 0;
};

/// True if this processor has tiles for bfloat16 and the operating system lets this process use them. If false, do not
/// call the functions below.
bool has_tiles();

/// Configures the calling thread's tiles for the functions below, if they are needed and the processor has them. Do not
/// call other libraries inside the scope, because they may change the configuration.
class TileScope {
 public:
  explicit TileScope(bool needed = true);
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  bool active_;
};

void multiply_on_tiles(const TileProduct& product);    ///< y = left * right + bias
void accumulate_on_tiles(const TileProduct& product);  ///< y += left * right

}  // namespace molgraph::cpu
