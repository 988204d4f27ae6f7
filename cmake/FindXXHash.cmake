# xxHash (Debian: libxxhash-dev). Defines the target molgraph_xxhash.
find_path(XXHash_INCLUDE_DIR xxhash.h)
find_library(XXHash_LIBRARY xxhash)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XXHash REQUIRED_VARS XXHash_LIBRARY XXHash_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libxxhash-dev")
if(XXHash_FOUND AND NOT TARGET molgraph_xxhash)
  add_library(molgraph_xxhash INTERFACE IMPORTED GLOBAL)
  target_include_directories(molgraph_xxhash SYSTEM INTERFACE ${XXHash_INCLUDE_DIR})
  target_link_libraries(molgraph_xxhash INTERFACE ${XXHash_LIBRARY})
endif()
mark_as_advanced(XXHash_INCLUDE_DIR XXHash_LIBRARY)
