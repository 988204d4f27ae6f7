# Targets of this project are made by these functions, so that warnings and include folders are set in one place.

add_library(molgraph_warnings INTERFACE)
target_compile_options(molgraph_warnings INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> -Wshadow -Wno-unknown-pragmas
                       -Wno-missing-field-initializers  # aggregates with defaults are the style of options
                       -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds   # false alarms of GCC 12 in std::string (its bug 105651)
                       $<$<BOOL:${MOLGRAPH_WERROR}>:$<$<COMPILE_LANGUAGE:C,CXX>:-Werror>>)

# molgraph_library(NAME SOURCES ... PUBLIC libs ... PRIVATE libs ...): a static library of a room, called
# molgraph::NAME elsewhere. Every one of them stands in the global property MOLGRAPH_LIBRARIES.
function(molgraph_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(molgraph::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:molgraph_warnings>)
  set_property(GLOBAL APPEND PROPERTY MOLGRAPH_LIBRARIES ${name})
endfunction()

# molgraph_use_torch(TARGET [PUBLIC|PRIVATE] [TOGETHER]): for every target with a file that includes <torch/torch.h>. Links LibTorch
# (a library: PUBLIC, because headers show tensors; a program: PRIVATE) and takes the header from one precompiled copy.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON compiles without. That header alone costs 20 s per file, the precompiled copy still 5 s,
# because GCC makes the header's templates anew at the end of every file. TOGETHER compiles eight files at a time (MOLGRAPH_UNITY):
# no two files of such a target may give one name to different things, not even in their unnamed namespaces.
function(molgraph_use_torch target)
  cmake_parse_arguments(ARG "PUBLIC;PRIVATE;TOGETHER" "" "" ${ARGN})
  get_target_property(type ${target} TYPE)
  set(visibility PUBLIC)
  if(type STREQUAL EXECUTABLE)
    set(visibility PRIVATE)
    # A precompiled header holds for one kind of position independence only: programs take the libraries' -fPIC too.
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
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${MOLGRAPH_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# molgraph_test(NAME SOURCES ... LIBRARIES ... [LABELS ...]): one GoogleTest program, its tests known to ctest (DiscoverTests.cmake).
# In a Release build its own sources are compiled with -O1, which is quicker by a third; what they test stays as it is.
function(molgraph_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest_main molgraph_warnings)
  target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  molgraph_discover_tests(${name} ${ARG_LABELS})
endfunction()

# molgraph_discover_tests(PROGRAM [LABELS ...]): the tests of a GoogleTest program are ctest's.
function(molgraph_discover_tests program)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${program}_tests.cmake)
  set(script ${PROJECT_SOURCE_DIR}/cmake/DiscoverTests.cmake)
  add_custom_command(TARGET ${program} POST_BUILD BYPRODUCTS ${list} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${program}> -DOUT=${list} "-DLABELS=${ARGN}" -P ${script})
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

# molgraph_long(NAME PROGRAM FILTER): cases of a test program whose table is cut short by default, with the whole of it. It runs where
# MOLGRAPH_LONG is set: MOLGRAPH_LONG=1 ctest -L long.
function(molgraph_long name program filter)
  add_test(NAME Long.${name} COMMAND sh -c "[ -n \"$MOLGRAPH_LONG\" ] || { echo 'skipped: MOLGRAPH_LONG is not set'; exit 77; }
    exec $<TARGET_FILE:${program}> --gtest_filter=${filter}")
  set_tests_properties(Long.${name} PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77 LABELS long ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()
