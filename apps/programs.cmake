# Sources of the programs and of what they share; the targets themselves are in CMakeLists.txt.
set(MOLGRAPH_PREDICTOR_SOURCES
  predictor.cpp)          # the public scoring class
set(MOLGRAPH_PROGRAM_SOURCES
  file_roles.cpp          # no output is an input
  command_line.cpp        # flags, --config, "did you mean"
  option_values.cpp       # ranges of numbers, lists of words
  output_file.cpp         # OUT.part, gzip, standard output
  program.cpp             # exit codes, signals, pipes, logs
  progress.cpp            # bar and plain lines
  row_windows.cpp)        # tables read ahead in windows
set(MOLGRAPH_FEATURIZE_SOURCES featurize_main.cpp)
set(MOLGRAPH_BATCH_SOURCES
  batch_run.cpp           # tables in, rows out: shards, going on after an interruption
  resume_record.cpp       # OUT.part.json
  score_output.cpp)       # lines
set(MOLGRAPH_SCORE_SOURCES score_main.cpp nearest.cpp ${MOLGRAPH_BATCH_SOURCES})
set(MOLGRAPH_EMBED_SOURCES embed_main.cpp embed_output.cpp ${MOLGRAPH_BATCH_SOURCES})
set(MOLGRAPH_INFO_SOURCES info_main.cpp info_card.cpp info_headline.cpp)
set_source_files_properties(program.cpp PROPERTIES COMPILE_DEFINITIONS MOLGRAPH_VERSION="${PROJECT_VERSION}")
