# Installation: libraries, public headers, CMake package, pkg-config file, man page.
install(TARGETS curvebody_static curvebody_shared EXPORT curvebody-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/src/curvebody DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/curvebody)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/curvebody)
install(EXPORT curvebody-targets NAMESPACE curvebody:: DESTINATION ${package_folder})
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/curvebody-config.cmake "include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
find_dependency(Threads)
find_dependency(OpenMP COMPONENTS C)
find_dependency(HDF5 COMPONENTS C HL)
find_dependency(SUNDIALS COMPONENTS ida)
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
include(\${CMAKE_CURRENT_LIST_DIR}/curvebody-targets.cmake)
if(NOT TARGET curvebody::curvebody)
  add_library(curvebody::curvebody ALIAS curvebody::shared)
endif()
")
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/curvebody-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/curvebody-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/curvebody-config-version.cmake
        DESTINATION ${package_folder})

file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/curvebody.pc "prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: curvebody
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -lcurvebody
Cflags: -I\${includedir}
Requires.private: gsl yaml-0.1 nettle expat hdf5
Libs.private: -lhdf5_hl -lsundials_ida -lsundials_nvecserial -lsundials_sunmatrixdense -lsundials_sunmatrixsparse -lsundials_sunlinsoldense -lsundials_sunlinsolklu -lklu -lldl -lamd -lopenblas -lhmat -lz -lgomp -lm
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/curvebody.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The man page comes from the program's own help.
find_program(HELP2MAN help2man)
if(HELP2MAN AND TARGET curvebody)
  add_custom_command(OUTPUT curvebody.1
                     COMMAND ${HELP2MAN} --no-info --name "motion of extended bodies in curved spaces" --output curvebody.1 $<TARGET_FILE:curvebody>
                     DEPENDS curvebody VERBATIM)
  add_custom_target(man ALL DEPENDS curvebody.1)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/curvebody.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
