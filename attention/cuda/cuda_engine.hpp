// The engine of an NVIDIA GPU, for whoever asks for one by name; attention/engine.hpp's make_engine() does. Without
// nvcc there is none, and every function says so (absent.cpp).
//
// No sum is made by atomic additions, so equal runs give equal bits on one kind of card. Where all products are the
// engine's own kernels, the bits of a prediction do not depend on what else is in the batch. Products of 256 rows,
// columns and depth or more are cublasLt's, if it can be loaded: it chooses by the batch's number of tokens how it
// sums, so that bits of models 256 wide or wider depend on that number, and on cublasLt's version.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "attention/resident_training.hpp"

namespace molgraph {

/// On GPU `number`; its Engine::resident() is never null. Any thread may call. std::invalid_argument for a plan that
/// does not fit, DeviceError if the GPU cannot be used.
std::unique_ptr<Engine> make_cuda_engine(const ModelPlan& plan, int number = 0, Precision precision = Precision::fp32);

}  // namespace molgraph

namespace molgraph::cuda {

/// Why GPU `number` cannot be used; empty = it can.
std::string why_unusable(int number);
/// The calling thread's GPU from now on, for libraries that work on a thread's own.
void use_device(int number);
/// Whom to tell what no result shows, such as that a slower way is taken, each once; empty = a line on stderr.
void tell_notes(std::function<void(const std::string&)> to);

}  // namespace molgraph::cuda
