# Debian packages: `cpack -G DEB` in a release build. Each component of src/install.cmake is one package.
set(CURVEBODY_MAINTAINER "curvebody <curvebody@users.noreply.github.com>" CACHE STRING "Maintainer of the packages")
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_COMPONENTS_ALL program library development)
if(TARGET curvebody_mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
endif()
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/src/python/curvebody/__init__.py)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()

set(CPACK_PACKAGE_NAME curvebody)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "motion of extended bodies in curved spaces and in fluids")
set(CPACK_PACKAGE_CONTACT "${CURVEBODY_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# Defines the package of a component. text: its description after the first line.
macro(curvebody_package component name section text)
  string(TOUPPER ${component} COMPONENT)
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${COMPONENT}_DESCRIPTION "${text}")
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/src/packages/copyright ${CMAKE_CURRENT_BINARY_DIR}/packages/changelog.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endmacro()
file(READ ${CMAKE_CURRENT_SOURCE_DIR}/src/packages/changelog changelog)
string(CONFIGURE "${changelog}" changelog @ONLY)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/packages/changelog "${changelog}")
execute_process(COMMAND gzip -9nkf ${CMAKE_CURRENT_BINARY_DIR}/packages/changelog)

curvebody_package(program curvebody science "Runs scenarios of particles, springs, rods and rigid bodies in spaces of
constant curvature, in homogeneous and other Riemannian spaces and in fluids,
and of gaits that move a body by its shape; records are HDF5 files.")
curvebody_package(library libcurvebody${soversion} libs "The shared library: spaces, bodies, constraints, fluids, integrators,
runs and records, for programs in C and C++.")
curvebody_package(development libcurvebody-dev libdevel "Headers, the static library, and files for CMake and pkg-config to build
programs and plugins with libcurvebody.")
curvebody_package(mpi curvebody-mpi science "The module with which sweeps of curvebody run under mpirun.")
curvebody_package(python python3-curvebody python "The Python package: runs and steps scenarios, and loads records as datasets of
xarray.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
# Dependencies of programs that are linked with the library: its package, in at least this version. dpkg reads `shlibs`, or
# `symbols`, which lists the version of each symbol.
set(control ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(head "libcurvebody.so.${soversion} libcurvebody${soversion}")
file(WRITE ${control}/shlibs "libcurvebody ${soversion} libcurvebody${soversion} (>= ${PROJECT_VERSION})\n")
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
add_custom_command(OUTPUT ${control}/symbols
  COMMAND sh -c "{ echo '${head} #MINVER#' && ${CMAKE_NM} -D --defined-only '$<TARGET_FILE:curvebody_shared>' | sed -n 's/^[0-9a-f]* [TDBRVW] \\(.*\\)/ \\1@Base ${PROJECT_VERSION}/p' | LC_ALL=C sort; } > symbols"
  WORKING_DIRECTORY ${control} DEPENDS curvebody_shared VERBATIM)
add_custom_target(symbols_of_package ALL DEPENDS ${control}/symbols)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${control}/shlibs;${control}/triggers;${control}/symbols")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "bash-completion, python3-curvebody")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "curvebody (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
string(CONCAT CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3:any, python3-numpy, python3-h5py, python3-xarray, "
  "curvebody (= ${PROJECT_VERSION}), libcurvebody${soversion} (= ${PROJECT_VERSION})")
set(scripts ${CMAKE_CURRENT_SOURCE_DIR}/src/packages/python3-curvebody)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${scripts}/postinst;${scripts}/prerm")
string(CONCAT CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libcurvebody${soversion} (= ${PROJECT_VERSION}), libgsl-dev, "
  "libsundials-dev, libsuitesparse-dev, libhdf5-dev, zlib1g-dev, libyaml-dev, nettle-dev, libexpat1-dev, libopenblas-dev")
if(NOT hmat IN_LIST CURVEBODY_WITHOUT)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libhmat-oss-dev")
endif()
include(CPack)
