# Tests of the predictor and of the scoring programs. The programs are run as their users run them, from a shell.
add_library(apps_test_support STATIC meeting.cpp shell.cpp tiny_model.cpp)
target_link_libraries(apps_test_support PUBLIC trainer molgraph_warnings)
molgraph_use_torch(apps_test_support)

molgraph_test(predictor_test SOURCES predictor_test.cpp LIBRARIES apps_test_support)
molgraph_test(domain_test SOURCES domain_test.cpp LIBRARIES predictor)
molgraph_test(explain_test SOURCES explain_test.cpp explain_parts_test.cpp LIBRARIES apps_test_support attention_formula)
molgraph_test(baselines_test SOURCES baselines_test.cpp booster_test.cpp calibration_test.cpp gaussian_process_fit_test.cpp gaussian_process_test.cpp trees_test.cpp LIBRARIES baselines)
molgraph_test(batch_test SOURCES nearest_test.cpp ../../apps/programs/batch/batch_run.cpp ../../apps/programs/batch/resume_record.cpp
              LIBRARIES predictor program_shell CLI11::CLI11 spdlog::spdlog nlohmann_json::nlohmann_json)
molgraph_test(report_test SOURCES report_test.cpp ../support/html_check.cpp LIBRARIES report GTest::gmock)
molgraph_test(program_shell_test SOURCES program_test.cpp shell.cpp option_values_test.cpp ordered_pipeline_test.cpp LIBRARIES program_shell CLI11::CLI11)

# molgraph_cli_test(NAME PROGRAMS ...): its source, called NAME, finds the folder of the programs in MOLGRAPH_BIN
function(molgraph_cli_test name)
  cmake_parse_arguments(ARG "" "" "PROGRAMS" ${ARGN})
  molgraph_test(${name} SOURCES ${name}.cpp LIBRARIES apps_test_support)
  target_compile_definitions(${name} PRIVATE MOLGRAPH_BIN="$<TARGET_FILE_DIR:molgraph-score>")
  add_dependencies(${name} ${ARG_PROGRAMS})
endfunction()
molgraph_cli_test(score_cli_test PROGRAMS molgraph-score)
molgraph_cli_test(scale_cli_test PROGRAMS molgraph-score molgraph-embed molgraph-featurize)
target_link_libraries(scale_cli_test PRIVATE nlohmann_json::nlohmann_json)
molgraph_cli_test(outputs_cli_test PROGRAMS molgraph-score molgraph-embed molgraph-featurize molgraph-import molgraph-info molgraph-train)
target_link_libraries(outputs_cli_test PRIVATE nlohmann_json::nlohmann_json)
molgraph_cli_test(embed_cli_test PROGRAMS molgraph-embed)
molgraph_cli_test(featurize_cli_test PROGRAMS molgraph-featurize molgraph-info)
molgraph_cli_test(info_cli_test PROGRAMS molgraph-info molgraph-featurize)
molgraph_cli_test(run_cli_test PROGRAMS molgraph-train molgraph-score molgraph-info molgraph-featurize)
molgraph_cli_test(import_cli_test PROGRAMS molgraph-import molgraph-score molgraph-embed molgraph-train molgraph-featurize
                                           molgraph-info)
target_compile_definitions(import_cli_test PRIVATE MOLGRAPH_GOLDEN_DIR="${CMAKE_CURRENT_SOURCE_DIR}/../golden")
