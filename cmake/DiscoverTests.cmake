# Called after a test program is linked (molgraph_test): lists its cases for ctest. A test with parameters is one entry with all of
# them, because a program that links LibTorch takes half a second to start: one start per parameter would take a quarter of the time
# that all tests take. An entry counts as skipped if all its cases are.
#   cmake -DPROGRAM=... -DOUT=... [-DLABELS=...] -P DiscoverTests.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE code TIMEOUT 60)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests ends with ${code}:\n${listed}")
endif()
string(REGEX REPLACE "[ \t]*#[^\n]*" "" listed "${listed}")   # "# GetParam() = ..."
string(REPLACE "\n" ";" listed "${listed}")
set(entries)
foreach(line IN LISTS listed)
  if(line MATCHES "^[^ ]+\\.$")
    set(suite "${line}")
  elseif(line MATCHES "^  ([^/]+)(/.+)?$")
    set(entry "${suite}${CMAKE_MATCH_1}")
    if(NOT entry IN_LIST entries)
      list(APPEND entries "${entry}")
      set(filter_${entry} "${entry}")
      set(cases_${entry} 0)
      if(CMAKE_MATCH_2)
        set(filter_${entry} "${entry}/*")
      endif()
    endif()
    math(EXPR cases_${entry} "${cases_${entry}} + 1")
  endif()
endforeach()
set(script)
foreach(entry IN LISTS entries)
  set(tests "${cases_${entry}} tests")
  if(cases_${entry} EQUAL 1)
    set(tests "1 test")
  endif()
  string(APPEND script "add_test([==[${entry}]==] [==[${PROGRAM}]==] [==[--gtest_filter=${filter_${entry}}]==])\n"
    "set_tests_properties([==[${entry}]==] PROPERTIES TIMEOUT 1200 ENVIRONMENT OMP_WAIT_POLICY=passive LABELS [==[${LABELS}]==]\n"
    "  SKIP_REGULAR_EXPRESSION [==[\\[  SKIPPED \\] ${tests}, listed below]==])\n")
endforeach()
file(WRITE "${OUT}" "${script}")
