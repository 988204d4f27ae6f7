// The product kernel on the emulated GPU: in float32, tf32 and bf16, with bias, GELU and factor, and with the depth in
// slices.
#include <gtest/gtest.h>

#include "attention/cuda/kernels/product.cuh"
#include "tests/cuda/device_arrays.hpp"
#include "tests/support/errors.hpp"

namespace molgraph::test {
namespace {

using cuda::Bf16, cuda::ProductGroup;

struct Size {
  int rows, columns, depth;
};
/// Partial and full tiles of rows, columns (tiles of 80 if their number is a multiple of 80) and depth.
const std::vector<Size> kSizes{{1, 1, 1},      {3, 5, 2},    {64, 64, 16},  {65, 80, 33}, {130, 81, 17},
                               {70, 160, 250}, {20, 9, 200}, {65, 80, 480}, {66, 64, 192}};

struct Case {
  Size size;
  std::vector<float> a, b, bias, factor;  ///< [rows, depth], [columns, depth], [columns], [rows, columns]
  Case(const Size& s, Precision precision) : size(s) {
    Numbers01 numbers(static_cast<unsigned>(s.rows + 7 * s.columns + 31 * s.depth));
    const auto many = [&](int count) { return numbers.many(static_cast<std::size_t>(count)); };
    a = many(s.rows * s.depth), b = many(s.columns * s.depth), bias = many(s.columns),
    factor = many(s.rows * s.columns);
    for (auto* factors : {&a, &b})
      for (float& x : *factors)
        x = precision == Precision::tf32   ? cuda::round_to_tf32(x)
            : precision == Precision::bf16 ? cuda::to_float(cuda::from_float<Bf16>(x))
                                           : x;
  }
  template <class T>
  T element(int m, int n, int first, int last) const {
    T sum = 0;
    for (int k = first; k < last; ++k)
      sum += static_cast<T>(a[static_cast<std::size_t>(m * size.depth + k)]) *
             static_cast<T>(b[static_cast<std::size_t>(n * size.depth + k)]);
    return sum;
  }
};

template <class E>
E* put(DeviceArrays& device, const std::vector<float>& x) {
  if constexpr (std::is_same_v<E, float>) return device.put(x);
  else return device.put_bf16(x);
}

/// [rows, columns] to [columns, rows].
std::vector<float> transposed(const std::vector<float>& x, int rows, int columns) {
  std::vector<float> y(x.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      y[static_cast<std::size_t>(c * rows + r)] = x[static_cast<std::size_t>(r * columns + c)];
  return y;
}

template <class E>
void expect_products(Precision precision) {
  for (const Size& s : kSizes) {
    const Case c(s, precision);
    const auto count = static_cast<std::size_t>(s.rows * s.columns), rows = static_cast<std::size_t>(s.rows);
    for (const bool a_transposed : {false, true})
      for (const bool b_transposed : {false, true})
        for (const int slices : {1, 3}) {
          DeviceArrays device;
          cuda::Product<E> p{.a = put<E>(device, a_transposed ? transposed(c.a, s.rows, s.depth) : c.a),
                             .a_row = a_transposed ? 1 : s.depth,
                             .a_depth = a_transposed ? s.rows : 1,
                             .b = put<E>(device, b_transposed ? transposed(c.b, s.columns, s.depth) : c.b),
                             .b_column = b_transposed ? 1 : s.depth,
                             .b_depth = b_transposed ? s.columns : 1,
                             .rows = s.rows,
                             .columns = s.columns,
                             .depth = s.depth,
                             .slices = slices,
                             .slice_stride = static_cast<std::int64_t>(count)};
          p.y32 = device.unset<float>(count * static_cast<std::size_t>(slices));
          p.row_sums = device.unset<float>(count * static_cast<std::size_t>(slices) + rows);
          cuda::multiply<E>(nullptr, precision, p);
          const std::vector<float> parts = DeviceArrays::get(p.y32, count * static_cast<std::size_t>(slices));
          const std::vector<float> sums = DeviceArrays::get(p.row_sums, rows);  // of the first slice
          Errors products, of_rows;
          const int share =
              s.columns % 80 == 0 ? cuda::slice_depth<10>(s.depth, slices) : cuda::slice_depth<8>(s.depth, slices);
          for (int m = 0; m < s.rows; ++m) {
            for (int n = 0; n < s.columns; ++n) {
              float got = 0;
              for (int k = 0; k < slices; ++k)
                got += parts[static_cast<std::size_t>(k) * count + static_cast<std::size_t>(m * s.columns + n)];
              products.add(c.element<double>(m, n, 0, s.depth), got, c.element<float>(m, n, 0, s.depth));
            }
            double expected = 0;
            float plain = 0;
            for (int k = 0; k < std::min(share, s.depth); ++k)
              expected += c.a[static_cast<std::size_t>(m * s.depth + k)],
                  plain += c.a[static_cast<std::size_t>(m * s.depth + k)];
            of_rows.add(expected, sums[static_cast<std::size_t>(m)], plain);
          }
          const std::string name =
              std::to_string(s.rows) + " x " + std::to_string(s.columns) + " x " + std::to_string(s.depth);
          products.expect_small(name);
          of_rows.expect_small(name + ", sums of rows");
        }
  }
}

TEST(CudaProductKernel, SumsOverTheDepth) { expect_products<float>(Precision::fp32); }
TEST(CudaProductKernel, SumsOverTheDepthInTf32) { expect_products<float>(Precision::tf32); }
TEST(CudaProductKernel, SumsOverTheDepthInBf16) { expect_products<Bf16>(Precision::bf16); }

TEST(CudaProductKernel, AppliesBiasGeluAndFactor) {
  for (const Size& s : kSizes) {
    const Case c(s, Precision::fp32);
    const auto count = static_cast<std::size_t>(s.rows * s.columns);
    DeviceArrays device;
    cuda::Product<float> p{.a = device.put(c.a),
                           .a_row = s.depth,
                           .b = device.put(c.b),
                           .b_column = s.depth,
                           .rows = s.rows,
                           .columns = s.columns,
                           .depth = s.depth,
                           .bias = device.put(c.bias),
                           .slope = device.unset<float>(count),
                           .factor = device.put(c.factor),
                           .y = device.unset<float>(count)};
    cuda::multiply<float>(nullptr, Precision::fp32, p);
    const std::vector<float> y = DeviceArrays::get(p.y, count), slope = DeviceArrays::get(p.slope, count);
    Errors values, slopes;
    for (int m = 0; m < s.rows; ++m)
      for (int n = 0; n < s.columns; ++n) {
        const auto at = static_cast<std::size_t>(m * s.columns + n);
        const double x = c.element<double>(m, n, 0, s.depth) + c.bias[static_cast<std::size_t>(n)];
        const float plain = c.element<float>(m, n, 0, s.depth) + c.bias[static_cast<std::size_t>(n)];
        values.add(gelu(x) * c.factor[at], y[at], gelu(plain) * c.factor[at]);
        slopes.add(gelu_slope(x), slope[at], gelu_slope(plain));
      }
    values.expect_small("GELU");
    slopes.expect_small("its derivative");
  }
}

}  // namespace
}  // namespace molgraph::test
