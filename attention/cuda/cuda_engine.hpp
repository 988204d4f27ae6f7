// Engine for an NVIDIA GPU. To select an engine by device, use make_engine() of attention/engine.hpp. In a build
// without nvcc, every function reports that CUDA is missing (absent.cpp).
//
// No sum uses atomic additions, so equal runs give equal bits on one kind of card. If all products use the engine's own
// kernels, the bits of a prediction do not depend on the other molecules of the batch. Products with at least 256 rows,
// columns and depth use cublasLt if it can be loaded. cublasLt chooses its order of summation by the batch's number of
// tokens, so the bits of models of width 256 or more depend on that number and on the version of cublasLt.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "attention/resident_training.hpp"

namespace molgraph {

/// Creates the engine on GPU `number`. Its Engine::resident() is never null. Thread-safe. Throws std::invalid_argument
/// for an invalid plan, and DeviceError if the GPU cannot be used.
std::unique_ptr<Engine> make_cuda_engine(const ModelPlan& plan, int number = 0, Precision precision = Precision::fp32);

}  // namespace molgraph

namespace molgraph::cuda {

/// Returns the reason why GPU `number` cannot be used; empty = it can.
std::string why_unusable(int number);
/// Makes `number` the calling thread's GPU, for libraries that use the thread's GPU.
void use_device(int number);
/// Sets who receives notes on what results do not show, such as that slower kernels are used. Each text is sent once.
/// Empty = a line on stderr.
void tell_notes(std::function<void(const std::string&)> to);

}  // namespace molgraph::cuda
