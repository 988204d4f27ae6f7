#include "attention/cuda/gpu/library_product.hpp"

#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "attention/cuda/profile.hpp"

namespace molgraph::cuda {
namespace {

constexpr const char* kCall = "cublasLtMatmul";  // name in a profile
constexpr std::size_t kWorkspace = std::size_t{32} << 20;

/// The library's functions.
struct Functions {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtDestroy) destroy = nullptr;
  decltype(&cublasLtMatmulDescCreate) desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  std::string missing;  ///< reason why the library cannot be used; empty = it can

  Functions() {
    void* library = nullptr;
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* reason = dlerror();
      missing = reason != nullptr ? reason : "cublasLt cannot be loaded";
      return;
    }
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr && missing.empty()) missing = std::string("cublasLt has no function ") + name;
    };
    load(create, "cublasLtCreate");
    load(destroy, "cublasLtDestroy");
    load(desc_create, "cublasLtMatmulDescCreate");
    load(desc_destroy, "cublasLtMatmulDescDestroy");
    load(desc_set, "cublasLtMatmulDescSetAttribute");
    load(layout_create, "cublasLtMatrixLayoutCreate");
    load(layout_destroy, "cublasLtMatrixLayoutDestroy");
    load(preference_create, "cublasLtMatmulPreferenceCreate");
    load(preference_destroy, "cublasLtMatmulPreferenceDestroy");
    load(preference_set, "cublasLtMatmulPreferenceSetAttribute");
    load(heuristic, "cublasLtMatmulAlgoGetHeuristic");
    load(matmul, "cublasLtMatmul");
  }
};

const Functions& functions() {
  static const Functions all;
  return all;
}

/// Returns the alignment of the address, up to the maximum that the library uses. Without this value, the library
/// assumes 256 bytes, but parameters rounded to bfloat16 are aligned only to 128.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::uint32_t>(std::min<std::uintptr_t>(256, bits & (~bits + 1)));
}

/// A shape and what the library chose for it.
struct Plan {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  bool usable = false;
};

}  // namespace

struct ProductLibrary::State {
  Precision precision;
  cublasLtHandle_t handle = nullptr;
  Array<char> workspace;
  /// Key: rows, columns, depth, the strides, alignments of a, b and y.
  std::map<std::array<std::int64_t, 10>, Plan> plans;

  ~State() {
    const Functions& f = functions();
    for (auto& [shape, plan] : plans) {
      if (plan.operation != nullptr) f.desc_destroy(plan.operation);
      for (const cublasLtMatrixLayout_t layout : {plan.first, plan.second, plan.result})
        if (layout != nullptr) f.layout_destroy(layout);
    }
    if (handle != nullptr) f.destroy(handle);
  }

  // The library is column-major: it computes y^T [columns, rows] = b^T a^T in the same memory.
  Plan make_plan(const LibraryProduct& p) {
    const Functions& f = functions();
    const cudaDataType_t type = precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const cublasComputeType_t compute =
        precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const cublasOperation_t first_op = p.b_depth == 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                            second_op = p.a_depth == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
    const auto rows = static_cast<std::uint64_t>(p.rows), columns = static_cast<std::uint64_t>(p.columns),
               depth = static_cast<std::uint64_t>(p.depth);
    Plan plan;
    bool done = f.desc_create(&plan.operation, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS;
    done = done &&
           f.desc_set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA, &first_op, sizeof first_op) == CUBLAS_STATUS_SUCCESS;
    done = done && f.desc_set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSB, &second_op, sizeof second_op) ==
                       CUBLAS_STATUS_SUCCESS;
    done = done &&
           (p.b_depth == 1 ? f.layout_create(&plan.first, type, depth, columns, p.b_column)
                           : f.layout_create(&plan.first, type, columns, depth, p.b_depth)) == CUBLAS_STATUS_SUCCESS;
    done =
        done && (p.a_depth == 1 ? f.layout_create(&plan.second, type, depth, rows, p.a_row)
                                : f.layout_create(&plan.second, type, rows, depth, p.a_depth)) == CUBLAS_STATUS_SUCCESS;
    done = done && f.layout_create(&plan.result, CUDA_R_32F, columns, rows, p.columns) == CUBLAS_STATUS_SUCCESS;
    cublasLtMatmulPreference_t preference = nullptr;
    done = done && f.preference_create(&preference) == CUBLAS_STATUS_SUCCESS;
    const std::size_t bytes = kWorkspace;
    done = done && f.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes) ==
                       CUBLAS_STATUS_SUCCESS;
    const auto aligned = [&](cublasLtMatmulPreferenceAttributes_t attribute, const void* address) {
      const std::uint32_t alignment = alignment_of(address);
      done = done && f.preference_set(preference, attribute, &alignment, sizeof alignment) == CUBLAS_STATUS_SUCCESS;
    };
    aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.b);
    aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.a);
    aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.y);
    aligned(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.y);
    cublasLtMatmulHeuristicResult_t choice{};
    int found = 0;
    done = done && f.heuristic(handle, plan.operation, plan.first, plan.second, plan.result, plan.result, preference, 1,
                               &choice, &found) == CUBLAS_STATUS_SUCCESS;
    if (preference != nullptr) f.preference_destroy(preference);
    plan.usable = done && found > 0;
    plan.algorithm = choice.algo;
    return plan;
  }
};

namespace {

bool own_kernels(const std::string& reason) {
  note("GPU: wide products use slower kernels: " + reason);
  return false;
}

}  // namespace

ProductLibrary::ProductLibrary(Precision precision) : state_(new State{precision}) {}
ProductLibrary::~ProductLibrary() = default;

bool ProductLibrary::multiply(Stream stream, const LibraryProduct& p) {
  State& s = *state_;
  const Functions& f = functions();
  if (!f.missing.empty()) return own_kernels(f.missing);
  if (s.handle == nullptr) {
    (void)s.workspace.sized(kWorkspace);
    if (const cublasStatus_t status = f.create(&s.handle); status != CUBLAS_STATUS_SUCCESS)
      return own_kernels("cublasLtCreate failed with status " + std::to_string(status));
  }
  const std::array<std::int64_t, 10> key{
      p.rows,     p.columns, p.depth,           p.a_row,           p.a_depth,
      p.b_column, p.b_depth, alignment_of(p.a), alignment_of(p.b), alignment_of(p.y)};
  auto found = s.plans.find(key);
  if (found == s.plans.end()) found = s.plans.emplace(key, s.make_plan(p)).first;
  const Plan& plan = found->second;
  const auto shape = [&] {
    return std::to_string(p.rows) + " x " + std::to_string(p.columns) + " x " + std::to_string(p.depth);
  };
  if (!plan.usable) return own_kernels("cublasLt has no algorithm for " + shape());
  const LaunchClock clock(stream, kCall);
  const float one = 1, zero = 0;
  const cublasStatus_t status =
      f.matmul(s.handle, plan.operation, &one, p.b, plan.first, p.a, plan.second, &zero, p.y, plan.result, p.y,
               plan.result, &plan.algorithm, s.workspace.data(), kWorkspace, static_cast<cudaStream_t>(stream));
  return status == CUBLAS_STATUS_SUCCESS ||
         own_kernels("cublasLtMatmul of " + shape() + " failed with status " + std::to_string(status));
}

}  // namespace molgraph::cuda
