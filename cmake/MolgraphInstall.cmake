# cmake --install: programs, public headers below include/molgraph, their libraries, and the package for
# find_package(molgraph) with the Find modules that it needs.
include(CMakePackageConfigHelpers)
set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/molgraph)
set(CMAKE_EXPORT_NO_PACKAGE_REGISTRY ON)

# The public interface: all headers that are installed. Scoring needs only predictor.hpp. The other headers are included
# by it, or are for tools that read molecules or write stores. A header included by one of these must be in the list
# too.
set(MOLGRAPH_PUBLIC_HEADERS
  apps/scoring/predictor.hpp             # runs -> predictions and embeddings
  apps/scoring/domain_place.hpp          # applicability domain of a molecule
  apps/scoring/explanation.hpp           # attributions
  attention/spec/device.hpp              # CPU or GPU
  attention/spec/precision.hpp           # precision of the predictor's arithmetic
  featurize/smiles/smiles.hpp            # SMILES and SDF -> graphs
  featurize/graph/error.hpp              # exceptions
  featurize/graph/featurizer_options.hpp
  featurize/graph/molecular_graph.hpp
  featurize/graph/pair_relations.hpp
  featurize/graph/vocabulary.hpp
  datasets/store/compact_lists.hpp
  datasets/store/molecule_set.hpp
  datasets/store/store.hpp               # graphs <-> HDF5
  datasets/tables/task.hpp)
# Users include <molgraph/apps/scoring/predictor.hpp>. The headers keep their places in the tree below include/molgraph,
# which is an include directory of the targets.
foreach(_header IN LISTS MOLGRAPH_PUBLIC_HEADERS)
  cmake_path(GET _header PARENT_PATH _folder)
  install(FILES ${_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/molgraph/${_folder})
endforeach()

# The libraries of these headers: molgraph::predictor and everything that it links. The training library is not
# installed.
set(_libraries)
set(_open predictor)
while(_open)
  list(POP_FRONT _open _library)
  get_target_property(_links ${_library} LINK_LIBRARIES)
  list(APPEND _libraries ${_library})
  get_property(_ours GLOBAL PROPERTY MOLGRAPH_LIBRARIES)
  foreach(_link IN LISTS _links)
    if(_link IN_LIST _ours AND NOT _link IN_LIST _libraries AND NOT _link IN_LIST _open)
      list(APPEND _open ${_link})
    endif()
  endforeach()
endwhile()
install(TARGETS ${_libraries} EXPORT molgraphTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/molgraph)
install(EXPORT molgraphTargets NAMESPACE molgraph:: DESTINATION ${_package_dir})

get_property(_targets DIRECTORY apps PROPERTY BUILDSYSTEM_TARGETS)
foreach(_target IN LISTS _targets)
  get_target_property(_type ${_target} TYPE)
  if(_type STREQUAL EXECUTABLE)
    set(_component with_libtorch)
    if(_target MATCHES "^molgraph-(embed|featurize|info|score)$")
      set(_component programs)   # of the .deb
    endif()
    install(TARGETS ${_target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${_component})
  endif()
endforeach()

configure_package_config_file(cmake/molgraphConfig.cmake.in ${CMAKE_BINARY_DIR}/molgraphConfig.cmake
                              INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/molgraphConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/molgraphConfig.cmake ${CMAKE_BINARY_DIR}/molgraphConfigVersion.cmake
              cmake/FindRDKit.cmake cmake/FindLibZip.cmake cmake/FindXXHash.cmake
        DESTINATION ${_package_dir})
install(DIRECTORY pretrained DESTINATION ${CMAKE_INSTALL_DATADIR}/molgraph)
install(FILES LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs RENAME copyright)
