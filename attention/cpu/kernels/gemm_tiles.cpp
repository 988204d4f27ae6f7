// The products on the processor's tiles.
#include "attention/cpu/kernels/gemm_tiles.hpp"

#include "attention/cpu/kernels/tile_products.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

namespace molgraph::cpu {
namespace {

/// Operand of LDTILECFG (Intel's manual, volume 1, section 18.3).
struct alignas(64) Configuration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// For each number of rows. Right factors always have all rows.
constexpr std::array<Configuration, kTileRows + 1> kConfigurations = [] {
  std::array<Configuration, kTileRows + 1> all;
  for (std::size_t rows = 0; rows <= kTileRows; ++rows)
    for (int t = 0; t < 8; ++t) {
      all[rows].row_bytes[t] = 64;
      all[rows].rows[t] = static_cast<std::uint8_t>(t < kFirstRight ? rows : kTileRows);
    }
  return all;
}();

/// The instructions as inline assembly: compilers differ in their intrinsics, and GCC's do not tell the compiler that
/// they access memory.
struct ProcessorTiles {
  static void configure(std::size_t rows) { asm volatile("ldtilecfg %0" : : "m"(kConfigurations[rows])); }
  template <int kTile>
  static void zero() {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
  }
  template <int kTile>
  static void load(const void* from, std::size_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kTile>
  static void store(void* to, std::size_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
  }
  template <int kSum, int kLeft, int kRight>
  static void multiply_add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kLeft), "i"(kRight));
  }
};

/// CPUID, leaf 7: AMX-BF16 and AMX-TILE.
bool processor_has_tiles() {
  constexpr unsigned kFeatures = 1u << 22 | 1u << 24;
  unsigned a = 0, b = 0, c = 0, features = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &features) != 0 && (features & kFeatures) == kFeatures;
}

/// On Linux, a process must request permission to use tiles.
bool request_permission() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool has_tiles() {
  static const bool usable = processor_has_tiles() && request_permission();
  return usable;
}

TileScope::TileScope(bool needed) : active_(needed && has_tiles()) {
  if (active_) ProcessorTiles::configure(kTileRows);
}
TileScope::~TileScope() {
  if (active_) asm volatile("tilerelease");
}

void multiply_on_tiles(const TileProduct& product) { multiply_tiles<ProcessorTiles, false>(product); }
void accumulate_on_tiles(const TileProduct& product) { multiply_tiles<ProcessorTiles, true>(product); }

}  // namespace molgraph::cpu

#else

#include <cstdlib>

namespace molgraph::cpu {

bool has_tiles() { return false; }
TileScope::TileScope(bool) : active_(false) {}
TileScope::~TileScope() = default;
void multiply_on_tiles(const TileProduct&) { std::abort(); }
void accumulate_on_tiles(const TileProduct&) { std::abort(); }

}  // namespace molgraph::cpu

#endif
