# LibTorch for the CPU from, in this order: MOLGRAPH_LIBTORCH, CMAKE_PREFIX_PATH, the torch of the active python3 (if its
# C++ ABI is the new one), the pinned wheel that `bootstrap` puts into .deps/. Gives LibTorch::LibTorch and LibTorch_VERSION.
# The wheel's own CMake config insists on a CUDA toolkit; here only libtorch_cpu and libc10 are linked.
set(_torch_hints ${MOLGRAPH_LIBTORCH} ${MOLGRAPH_LIBTORCH}/torch)
foreach(_prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND _torch_hints ${_prefix} ${_prefix}/torch)
endforeach()
if(NOT MOLGRAPH_LIBTORCH)
  find_program(MOLGRAPH_PYTHON3 python3)
  mark_as_advanced(MOLGRAPH_PYTHON3)
  if(MOLGRAPH_PYTHON3)
    execute_process(COMMAND ${MOLGRAPH_PYTHON3} -c
      "import torch,os; print(os.path.dirname(torch.__file__) if torch.compiled_with_cxx11_abi() else '')"
      OUTPUT_VARIABLE _python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND _torch_hints ${_python_torch})
  endif()
  list(APPEND _torch_hints ${PROJECT_SOURCE_DIR}/.deps/torch)
endif()
find_path(LibTorch_INCLUDE_DIR ATen/ATen.h HINTS ${_torch_hints} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_library(LibTorch_cpu_LIBRARY torch_cpu HINTS ${_torch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
find_library(LibTorch_c10_LIBRARY c10 HINTS ${_torch_hints} PATH_SUFFIXES lib NO_DEFAULT_PATH)
if(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h _line REGEX "define TORCH_VERSION \"")
elseif(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include/torch/version.h)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include/torch/version.h _line REGEX "define TORCH_VERSION \"")
endif()
string(REGEX REPLACE ".*\"([0-9.]+).*\".*" "\\1" LibTorch_VERSION "${_line}")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_cpu_LIBRARY LibTorch_c10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION REASON_FAILURE_MESSAGE "run ./bootstrap deps, or set MOLGRAPH_LIBTORCH to an unpacked LibTorch 2.x")
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  get_filename_component(_torch_lib_dir ${LibTorch_cpu_LIBRARY} DIRECTORY)
  # The wheel's libtorch_cpu needs libcudart and libcupti of two small wheels that lie beside torch/.
  file(GLOB _torch_cuda_dirs ${_torch_lib_dir}/../../nvidia/*/lib)
  set(LibTorch_RUNTIME_DIRS ${_torch_lib_dir} ${_torch_cuda_dirs})
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${LibTorch_INCLUDE_DIR}
                             ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_cpu_LIBRARY} ${LibTorch_c10_LIBRARY})
  # DT_RPATH, not DT_RUNPATH: libtorch_cpu itself does not say where its CUDA runtime lies.
  target_link_options(LibTorch::LibTorch INTERFACE "LINKER:--disable-new-dtags")
  foreach(_dir IN LISTS LibTorch_RUNTIME_DIRS)
    target_link_options(LibTorch::LibTorch INTERFACE "LINKER:-rpath,${_dir}")
  endforeach()
endif()
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_cpu_LIBRARY LibTorch_c10_LIBRARY)
