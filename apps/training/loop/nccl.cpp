#include "apps/training/loop/nccl.hpp"

#include <dlfcn.h>

#include <string>

namespace molgraph {
namespace {

// Constants of nccl.h (NCCL 2).
constexpr int kSuccess = 0, kFloat32 = 7, kSum = 0;

}  // namespace

/// The declarations used from nccl.h, so that the build does not need its package.
struct Nccl::State {
  struct UniqueId {
    char bytes[128];
  };
  using Communicator = void*;

  int (*get_unique_id)(UniqueId*) = nullptr;
  int (*init_rank)(Communicator*, int count, UniqueId, int rank) = nullptr;
  int (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation, Communicator,
                    DeviceStream) = nullptr;
  int (*destroy)(Communicator) = nullptr;
  const char* (*error_text)(int) = nullptr;
  Communicator communicator = nullptr;

  State() {
    void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);  // never unloaded: its threads live longer
    if (library == nullptr) throw DeviceError("training on several GPUs needs NCCL: " + std::string(::dlerror()));
    const auto find = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr) throw DeviceError("libnccl.so.2 does not contain " + std::string(name));
    };
    find("ncclGetUniqueId", get_unique_id);
    find("ncclCommInitRank", init_rank);
    find("ncclAllReduce", all_reduce);
    find("ncclCommDestroy", destroy);
    find("ncclGetErrorString", error_text);
  }
  ~State() {
    if (communicator != nullptr) destroy(communicator);
  }
  void check(int code) const {
    if (code != kSuccess) throw DeviceError("NCCL: " + std::string(error_text(code)) + " (details: NCCL_DEBUG=WARN)");
  }
};

Nccl::Nccl(Processes& processes, const Device& gpu) : state_(new State) {
  State::UniqueId id{};
  if (processes.first()) state_->check(state_->get_unique_id(&id));
  processes.share(&id, sizeof id);
  use_device(gpu);
  state_->check(state_->init_rank(&state_->communicator, processes.count(), id, processes.rank()));
}
Nccl::~Nccl() = default;

void Nccl::sum(float* values, std::size_t size, DeviceStream stream) {
  state_->check(state_->all_reduce(values, values, size, kFloat32, kSum, state_->communicator, stream));
}

}  // namespace molgraph
