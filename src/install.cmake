# Installation: libraries, public headers, CMake package, pkg-config file, man pages, manual, scenarios; and the target
# `documentation`.
install(TARGETS curvebody_static curvebody_shared EXPORT curvebody-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/src/curvebody DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/curvebody)
install(EXPORT curvebody-targets NAMESPACE curvebody:: DESTINATION ${package_folder} COMPONENT development)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/curvebody-config.cmake "include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
find_dependency(Threads)
find_dependency(OpenMP COMPONENTS C)
find_dependency(HDF5 COMPONENTS C HL)
find_dependency(ZLIB)
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
        DESTINATION ${package_folder} COMPONENT development)

file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(hmat_flag "")
if(NOT hmat IN_LIST CURVEBODY_WITHOUT)
  set(hmat_flag " -lhmat")
endif()
set(core_flag "")
if(TARGET SUNDIALS::core) # SUNDIALS has this target from version 7 on
  set(core_flag " -lsundials_core")
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/curvebody.pc "prefix=\${pcfiledir}/${up}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: curvebody
Description: ${PROJECT_DESCRIPTION}
Version: ${PROJECT_VERSION}
Libs: -L\${libdir} -lcurvebody
Cflags: -I\${includedir}
Requires.private: gsl yaml-0.1 nettle expat hdf5
Libs.private: -lhdf5_hl -lsundials_ida -lsundials_nvecserial -lsundials_sunmatrixdense -lsundials_sunmatrixsparse -lsundials_sunlinsoldense -lsundials_sunlinsolklu${core_flag} -lklu -lldl -lamd -lopenblas${hmat_flag} -lz -lgomp -lm
")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/curvebody.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# Man pages and shell completions are made from the tables with which the program parses its command line.
if(TARGET curvebody)
  set(made "")
  find_program(GZIP gzip REQUIRED)
  set(pages curvebody)
  foreach(file ${cli_sources})
    file(STRINGS ${file} command REGEX "^const cli_command cli_command_")
    if(command MATCHES "cli_command_([a-z]+)")
      list(APPEND pages curvebody-${CMAKE_MATCH_1})
    endif()
  endforeach()
  foreach(page ${pages})
    set(out ${CMAKE_CURRENT_BINARY_DIR}/man/${page}.1)
    string(REGEX REPLACE "^curvebody-?" "" command ${page})
    add_custom_command(OUTPUT ${out}.gz COMMAND ${CMAKE_COMMAND} -E make_directory man
      COMMAND curvebody ${command} --man > ${out} COMMAND ${GZIP} -9nf ${out} DEPENDS curvebody VERBATIM)
    list(APPEND made ${out}.gz)
    install(FILES ${out}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  endforeach()

  foreach(shell bash zsh fish)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/completion/${shell})
    add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -E make_directory completion
      COMMAND curvebody completion ${shell} > ${out} DEPENDS curvebody VERBATIM)
    list(APPEND made ${out})
  endforeach()
  set(share ${CMAKE_INSTALL_DATADIR})
  set(completions ${CMAKE_CURRENT_BINARY_DIR}/completion)
  install(FILES ${completions}/bash DESTINATION ${share}/bash-completion/completions RENAME curvebody COMPONENT program)
  install(FILES ${completions}/fish DESTINATION ${share}/fish/vendor_completions.d RENAME curvebody.fish COMPONENT program)
  # Debian's zsh looks in vendor-completions under /usr, and in site-functions under /usr/local.
  install(CODE "set(file \"${completions}/zsh\")\nset(share \"${share}\")" COMPONENT program)
  install(CODE [[
    set(folder site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
      set(folder vendor-completions)
    endif()
    file(INSTALL "${file}" DESTINATION "${CMAKE_INSTALL_PREFIX}/${share}/zsh/${folder}" RENAME _curvebody)
  ]] COMPONENT program)
  # The manual, the scenarios and the example programs. The reference is a page of the manual that Python makes.
  set(manual ${share}/doc/curvebody/manual)
  set(analysis ${CMAKE_CURRENT_SOURCE_DIR}/analysis)
  install(DIRECTORY ${analysis}/docs/ DESTINATION ${manual} COMPONENT program FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
  install(DIRECTORY ${analysis}/scenarios DESTINATION ${share}/curvebody COMPONENT program)
  install(DIRECTORY ${analysis}/examples DESTINATION ${share}/curvebody COMPONENT program PATTERN __pycache__ EXCLUDE)
  if(NOT python IN_LIST CURVEBODY_WITHOUT)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/reference.md)
    add_custom_command(OUTPUT ${out} COMMAND ${CURVEBODY_PYTHON} ${analysis}/docs/reference.py $<TARGET_FILE:curvebody> > ${out}
      DEPENDS curvebody ${analysis}/docs/reference.py VERBATIM)
    list(APPEND made ${out})
    install(FILES ${out} DESTINATION ${manual} COMPONENT program)
  endif()
  add_custom_target(man_and_completion ALL DEPENDS ${made})

  # The target `documentation` makes the pages for a browser, if Sphinx is installed; doxygen is optional.
  if(NOT python IN_LIST CURVEBODY_WITHOUT)
    execute_process(COMMAND ${CURVEBODY_PYTHON} -c "import sphinx, myst_parser" RESULT_VARIABLE no_sphinx OUTPUT_QUIET ERROR_QUIET)
    find_program(DOXYGEN doxygen)
    if(no_sphinx EQUAL 0)
      add_custom_target(documentation COMMAND ${CURVEBODY_PYTHON} ${analysis}/docs/build ${CMAKE_CURRENT_BINARY_DIR}/docs
        --program $<TARGET_FILE:curvebody> $<$<NOT:$<BOOL:${DOXYGEN}>>:--no-headers> DEPENDS curvebody VERBATIM
        COMMAND_EXPAND_LISTS USES_TERMINAL)
    endif()
  endif()
endif()

# The Python package: in the first folder below the prefix in which python3 (CURVEBODY_PYTHON) looks for packages.
# Debian's python3 has lib/python3.N/dist-packages under /usr/local, lib/python3/dist-packages under /usr, and
# lib/python3.N/site-packages under $HOME/.local. Under another prefix, the folder is lib/python3/dist-packages, and the
# installation prints the value of PYTHONPATH with which python3 finds the package.
set(module ${CMAKE_CURRENT_SOURCE_DIR}/src/python/curvebody)
if(EXISTS ${module})
  install(CODE "set(module \"${module}\")\nset(interpreter \"${CURVEBODY_PYTHON}\")" COMPONENT python)
  install(CODE [[
    set(folder ${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages)
    execute_process(COMMAND "${interpreter}" -c "import site
print(*site.getsitepackages(), *[site.getusersitepackages()] * bool(site.ENABLE_USER_SITE), sep=';', end='')"
                    OUTPUT_VARIABLE known ERROR_QUIET)
    set(found FALSE)
    foreach(other ${known})
      string(FIND "${other}" "${CMAKE_INSTALL_PREFIX}/lib/" at)
      if(at EQUAL 0)
        set(folder "${other}")
        set(found TRUE)
        break()
      endif()
    endforeach()
    file(INSTALL "${module}" DESTINATION "${folder}" PATTERN __pycache__ EXCLUDE)
    if(NOT found AND "$ENV{DESTDIR}" STREQUAL "")
      message(STATUS "Python finds the package curvebody after: export PYTHONPATH=${folder}")
    endif()
  ]] COMPONENT python)
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(${CMAKE_CURRENT_SOURCE_DIR}/src/packages.cmake)
endif()
