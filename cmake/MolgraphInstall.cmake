# cmake --install: programs, static libraries, headers under include/molgraph/<room>, and the package that
# find_package(molgraph) finds, with the Find modules that it needs in turn.
include(CMakePackageConfigHelpers)
set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/molgraph)
set(CMAKE_EXPORT_NO_PACKAGE_REGISTRY ON)

get_property(_libraries GLOBAL PROPERTY MOLGRAPH_LIBRARIES)
install(TARGETS ${_libraries} EXPORT molgraphTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
get_property(_targets DIRECTORY apps PROPERTY BUILDSYSTEM_TARGETS)
foreach(_target IN LISTS _targets)
  get_target_property(_type ${_target} TYPE)
  if(_type STREQUAL EXECUTABLE)
    install(TARGETS ${_target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()
# Headers that show a library to their own room only. Everything else is public and installed.
set(MOLGRAPH_PRIVATE_HEADERS
  featurize/smiles/molecule.hpp featurize/smiles/rdkit_features.hpp featurize/smiles/rdkit_values.hpp featurize/smiles/stereo.hpp   # RDKit
  datasets/store/store_columns.hpp datasets/store/store_layout.hpp    # HDF5
  datasets/catalogue/catalogue_entries.hpp                          # a table, not an interface
  attention/cpu/kernels/gemm-inl.hpp attention/cpu/kernels/rows-inl.hpp        # Highway
  attention/cpu/kernels/attention-inl.hpp attention/cpu/kernels/attention_gradient-inl.hpp
  attention/cuda/molecules.hpp     # CUDA
  apps/programs/info/info_card.hpp apps/programs/info/info_headline.hpp)              # JSON
foreach(_room IN ITEMS featurize datasets attention graphormer grpe apps)
  set(_private)
  foreach(_header IN LISTS MOLGRAPH_PRIVATE_HEADERS)
    if(_header MATCHES "^${_room}/(.*)$")
      list(APPEND _private PATTERN ${CMAKE_MATCH_1} EXCLUDE)
    endif()
  endforeach()
  install(DIRECTORY ${_room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/molgraph FILES_MATCHING PATTERN "*.hpp" ${_private})
endforeach()

install(EXPORT molgraphTargets NAMESPACE molgraph:: DESTINATION ${_package_dir})
configure_package_config_file(cmake/molgraphConfig.cmake.in ${CMAKE_BINARY_DIR}/molgraphConfig.cmake
                              INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/molgraphConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/molgraphConfig.cmake ${CMAKE_BINARY_DIR}/molgraphConfigVersion.cmake
              cmake/FindLibTorch.cmake cmake/FindRDKit.cmake cmake/FindLibZip.cmake cmake/FindXXHash.cmake
        DESTINATION ${_package_dir})
install(FILES LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
