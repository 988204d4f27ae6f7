# Functions that define this project's targets, so that warnings and include folders are set in one place.

add_library(molgraph_warnings INTERFACE)
target_compile_options(molgraph_warnings INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> -Wshadow -Wno-unknown-pragmas
                       -Wno-missing-field-initializers  # options are aggregates with defaults
                       -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds   # false alarms of GCC 12 in std::string (bug 105651)
                       $<$<BOOL:${MOLGRAPH_WERROR}>:$<$<COMPILE_LANGUAGE:C,CXX>:-Werror>>)

# molgraph_together(TARGET): compiles eight files of the target together (MOLGRAPH_UNITY), because parsing the headers
# takes longer than compiling the files. In such a target, a name must not have different meanings in two files, not
# even in unnamed namespaces.
function(molgraph_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MOLGRAPH_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(MOLGRAPH_UNITY)
    # CMake includes the files by absolute path. GCC treats them as headers and warns about types with members from
    # unnamed namespaces. __FILE__ would be an absolute path, and ccache would find no results from another folder.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
                           $<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
  endif()
endfunction()

# molgraph_library(NAME [TOGETHER] SOURCES ... PUBLIC libs ... PRIVATE libs ...): a static library with the alias
# molgraph::NAME. The global property MOLGRAPH_LIBRARIES lists all of them. TOGETHER: molgraph_together.
function(molgraph_library name)
  cmake_parse_arguments(ARG "TOGETHER" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(molgraph::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/molgraph>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:molgraph_warnings>)
  if(ARG_TOGETHER)
    molgraph_together(${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY MOLGRAPH_LIBRARIES ${name})
endfunction()

# molgraph_use_torch(TARGET [PUBLIC|PRIVATE] [TOGETHER]): for every target with a file that includes <torch/torch.h>.
# Links LibTorch (a library: PUBLIC, because its headers contain tensors; a program: PRIVATE) and shares one precompiled
# copy of the header. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON turns this off. The header takes 20 s per file, the
# precompiled copy still 5 s, because GCC instantiates the header's templates again at the end of every file. TOGETHER:
# molgraph_together.
function(molgraph_use_torch target)
  cmake_parse_arguments(ARG "PUBLIC;PRIVATE;TOGETHER" "" "" ${ARGN})
  get_target_property(type ${target} TYPE)
  set(visibility PUBLIC)
  if(type STREQUAL EXECUTABLE)
    set(visibility PRIVATE)
    # A precompiled header is valid for only one kind of position independence, so programs use -fPIC like the
    # libraries.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  if(ARG_PRIVATE)
    set(visibility PRIVATE)
  endif()
  if(NOT TARGET molgraph_torch_header)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/torch_header.cpp CONTENT "// Holds the precompiled <torch/torch.h>.\n")
    add_library(molgraph_torch_header OBJECT ${CMAKE_BINARY_DIR}/torch_header.cpp)
    target_compile_features(molgraph_torch_header PRIVATE cxx_std_20)
    target_link_libraries(molgraph_torch_header PRIVATE LibTorch::LibTorch molgraph_warnings)   # -Wpedantic must agree
    target_precompile_headers(molgraph_torch_header PRIVATE <torch/torch.h>)
  endif()
  target_link_libraries(${target} ${visibility} LibTorch::LibTorch)
  target_precompile_headers(${target} REUSE_FROM molgraph_torch_header)
  if(ARG_TOGETHER)
    molgraph_together(${target})
  endif()
endfunction()

# molgraph_test(NAME [TOGETHER] [EACH_CASE] SOURCES ... LIBRARIES ... [LABELS ...]): a GoogleTest program whose suites
# are ctest entries. EACH_CASE: cases are entries and run in parallel, for cases that take seconds. <gtest/gtest.h>
# comes from one precompiled copy (with molgraph_use_torch, LibTorch's header does instead). TOGETHER:
# molgraph_together. In a Release build, the test's own sources are compiled with -O1, which is a third faster; the
# tested libraries are compiled as for users.
function(molgraph_test name)
  cmake_parse_arguments(ARG "TOGETHER;EACH_CASE" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} test_main GTest::gtest molgraph_warnings)
  target_link_options(${name} PRIVATE LINKER:--as-needed)   # LibTorch takes a quarter of a second to load
  # These options must match those of the precompiled header: -fPIE, -O1.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF ENABLE_EXPORTS ON)   # for backtraces
  target_compile_options(${name} PRIVATE -fPIE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  target_precompile_headers(${name} REUSE_FROM test_main)
  if(ARG_TOGETHER)
    molgraph_together(${name})
  endif()
  set(each SUITE)
  if(ARG_EACH_CASE)
    set(each CASE)
  endif()
  molgraph_discover_tests(${name} ${each} ${ARG_LABELS})
endfunction()

# molgraph_discover_tests(PROGRAM SUITE|CASE [LABELS ...]): makes the suites or cases of a GoogleTest program ctest
# entries.
function(molgraph_discover_tests program each)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${program}_tests.cmake)
  set(script ${PROJECT_SOURCE_DIR}/cmake/DiscoverTests.cmake)
  add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS ${list} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DEACH=${each} -DOUT=${list} "-DLABELS=${ARGN}" -P ${script})
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${script})
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${program}_include.cmake)
  file(WRITE ${include} "if(EXISTS [==[${list}]==])
  include([==[${list}]==])
else()
  add_test(${program}_NOT_BUILT ${program}_NOT_BUILT)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
