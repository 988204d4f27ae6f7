# cpack: a .deb with the programs that need no LibTorch (component `programs`). The wheel contains training
# (docs/guide/python.md).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME molgraph)
set(CPACK_PACKAGE_CONTACT "The molgraph authors <authors@molgraph.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "Scores and embeds molecules with trained models, describes runs, creates stores.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL programs)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME molgraph)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)   # dependencies from dpkg-shlibdeps
set(CPACK_DEBIAN_PACKAGE_DEPENDS rdkit-data)
include(CPack)
