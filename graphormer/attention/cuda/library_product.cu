#include "graphormer/attention/cuda/library_product.hpp"

#include "graphormer/attention/cuda/device.cuh"

#ifndef MOLGRAPH_CUDA_EMULATED
#include <cublasLt.h>
#include <dlfcn.h>

#include <map>
#include <tuple>
#endif

namespace molgraph::MOLGRAPH_CUDA {

#ifdef MOLGRAPH_CUDA_EMULATED

struct ProductLibrary::State {
  bool bf16;
};
ProductLibrary::ProductLibrary(Math math) : state_(new State{math == Math::bf16}) {}
ProductLibrary::~ProductLibrary() = default;

bool ProductLibrary::multiply(Stream, const LibraryProduct& product) {
  emulator::enqueue([p = product, bf16 = state_->bf16] {
    const auto element = [&](const void* x, std::int64_t at) {
      return bf16 ? to_float(static_cast<const Bf16*>(x)[at]) : static_cast<const float*>(x)[at];
    };
    for (int m = 0; m < p.rows; ++m)
      for (int n = 0; n < p.columns; ++n) {
        float sum = 0;
        for (int k = 0; k < p.depth; ++k) sum += element(p.a, m * p.a_row + k * p.a_depth) * element(p.b, n * p.b_column + k * p.b_depth);
        p.y[static_cast<std::int64_t>(m) * p.columns + n] = sum;
      }
  });
  return true;
}

#else

namespace {

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
  bool complete = false;

  Functions() {
    void* library = nullptr;
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    complete = true;
    const auto load = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      complete = complete && function != nullptr;
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

/// A shape with what the library chose for it.
struct Plan {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  bool usable = false;
};

}  // namespace

struct ProductLibrary::State {
  Math math;
  cublasLtHandle_t handle = nullptr;
  Array<char> workspace;
  std::map<std::tuple<int, int, int, bool, bool>, Plan> plans;

  ~State() {
    const Functions& f = functions();
    for (auto& [shape, plan] : plans) {
      if (plan.operation != nullptr) f.desc_destroy(plan.operation);
      for (const cublasLtMatrixLayout_t layout : {plan.first, plan.second, plan.result})
        if (layout != nullptr) f.layout_destroy(layout);
    }
    if (handle != nullptr) f.destroy(handle);
  }

  // The library counts columns first: there, y^T [columns, rows] = b^T a^T, and the memory stays as it is.
  Plan make_plan(const LibraryProduct& p) {
    const Functions& f = functions();
    const cudaDataType_t type = math == Math::bf16 ? CUDA_R_16BF : CUDA_R_32F;
    const cublasComputeType_t compute = math == Math::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const cublasOperation_t first_op = p.b_depth == 1 ? CUBLAS_OP_T : CUBLAS_OP_N, second_op = p.a_depth == 1 ? CUBLAS_OP_N : CUBLAS_OP_T;
    const auto rows = static_cast<std::uint64_t>(p.rows), columns = static_cast<std::uint64_t>(p.columns), depth = static_cast<std::uint64_t>(p.depth);
    Plan plan;
    bool done = f.desc_create(&plan.operation, compute, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS;
    done = done && f.desc_set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSA, &first_op, sizeof first_op) == CUBLAS_STATUS_SUCCESS;
    done = done && f.desc_set(plan.operation, CUBLASLT_MATMUL_DESC_TRANSB, &second_op, sizeof second_op) == CUBLAS_STATUS_SUCCESS;
    done = done && (p.b_depth == 1 ? f.layout_create(&plan.first, type, depth, columns, p.b_column)
                                   : f.layout_create(&plan.first, type, columns, depth, p.b_depth)) == CUBLAS_STATUS_SUCCESS;
    done = done && (p.a_depth == 1 ? f.layout_create(&plan.second, type, depth, rows, p.a_row)
                                   : f.layout_create(&plan.second, type, rows, depth, p.a_depth)) == CUBLAS_STATUS_SUCCESS;
    done = done && f.layout_create(&plan.result, CUDA_R_32F, columns, rows, p.columns) == CUBLAS_STATUS_SUCCESS;
    cublasLtMatmulPreference_t preference = nullptr;
    done = done && f.preference_create(&preference) == CUBLAS_STATUS_SUCCESS;
    const std::size_t bytes = kWorkspace;
    done = done && f.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes) == CUBLAS_STATUS_SUCCESS;
    cublasLtMatmulHeuristicResult_t choice{};
    int found = 0;
    done = done && f.heuristic(handle, plan.operation, plan.first, plan.second, plan.result, plan.result, preference, 1, &choice, &found) ==
                       CUBLAS_STATUS_SUCCESS;
    if (preference != nullptr) f.preference_destroy(preference);
    plan.usable = done && found > 0;
    plan.algorithm = choice.algo;
    return plan;
  }
};

ProductLibrary::ProductLibrary(Math math) : state_(new State{math}) {}
ProductLibrary::~ProductLibrary() = default;

bool ProductLibrary::multiply(Stream stream, const LibraryProduct& p) {
  State& s = *state_;
  const Functions& f = functions();
  if (!f.complete) return false;
  if (s.handle == nullptr) {
    if (f.create(&s.handle) != CUBLAS_STATUS_SUCCESS) return false;
    (void)s.workspace.sized(kWorkspace);
  }
  const auto key = std::tuple(p.rows, p.columns, p.depth, p.a_depth == 1, p.b_depth == 1);
  auto found = s.plans.find(key);
  if (found == s.plans.end()) found = s.plans.emplace(key, s.make_plan(p)).first;
  const Plan& plan = found->second;
  if (!plan.usable) return false;
  const LaunchClock clock(stream, reinterpret_cast<const void*>(f.matmul));
  const float one = 1, zero = 0;
  return f.matmul(s.handle, plan.operation, &one, p.b, plan.first, p.a, plan.second, &zero, p.y, plan.result, p.y, plan.result, &plan.algorithm,
                  s.workspace.data(), kWorkspace, static_cast<cudaStream_t>(stream)) == CUBLAS_STATUS_SUCCESS;
}

#endif

}  // namespace molgraph::MOLGRAPH_CUDA
