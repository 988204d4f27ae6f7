# Targets of this project are made by these two functions, so that warnings and include folders are set in one place.

add_library(molgraph_warnings INTERFACE)
target_compile_options(molgraph_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-unknown-pragmas)

# molgraph_library(NAME SOURCES ... PUBLIC libs ... PRIVATE libs ...)
function(molgraph_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  add_library(molgraph::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/molgraph>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:molgraph_warnings>)
endfunction()

# molgraph_test(NAME SOURCES ... LIBRARIES ...): one GoogleTest program, its cases known to ctest one by one
function(molgraph_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest_main molgraph_warnings)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()
