// DeviceTraining on the CUDA engine.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apps/training/device_training.hpp"
#include "apps/training/run_control.hpp"
#include "datasets/store/molecule_set.hpp"
#include "attention/reference/cuda_backend.hpp"

namespace molgraph::cuda {

/// Replaces floats on the device by their sums over all processes (UpdateOptions::sum_over_processes).
using DeviceSum = std::function<void(float* values, std::size_t size, DeviceStream stream)>;

/// Loads the whole data set. Keeps references to model and set, and shares the backend. `sum`: empty = this process trains alone.
/// Throws DeviceError if the memory is too small.
std::unique_ptr<DeviceTraining> train_on_device(const std::shared_ptr<Backend>& backend, const GraphModel& model, const MoleculeSet& set,
                                                const std::function<bool(const std::string&)>& decay_exempt, DeviceSum sum = {}, RunControl control = {});

}  // namespace molgraph::cuda
