# libzip (Debian: libzip-dev, whose CMake file requires programs of other packages). Defines the target molgraph_libzip.
find_path(LibZip_INCLUDE_DIR zip.h)
find_library(LibZip_LIBRARY zip)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibZip REQUIRED_VARS LibZip_LIBRARY LibZip_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libzip-dev")
if(LibZip_FOUND AND NOT TARGET molgraph_libzip)
  add_library(molgraph_libzip INTERFACE IMPORTED GLOBAL)
  target_include_directories(molgraph_libzip SYSTEM INTERFACE ${LibZip_INCLUDE_DIR})
  target_link_libraries(molgraph_libzip INTERFACE ${LibZip_LIBRARY})
endif()
mark_as_advanced(LibZip_INCLUDE_DIR LibZip_LIBRARY)
