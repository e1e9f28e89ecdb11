# Every tests/bench/SUBJECT.c is one program bench_SUBJECT. `tests/bench/run` runs them all; `tests/run nightly`
# also checks that each works with few repetitions.
find_package(SUNDIALS REQUIRED COMPONENTS cvode arkode)

file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/bench/*.c)
foreach(file ${bench_sources})
  get_filename_component(subject ${file} NAME_WE)
  add_executable(bench_${subject} ${file})
  target_link_libraries(bench_${subject} PRIVATE curvebody_static PkgConfig::CMOCKA)
  target_include_directories(bench_${subject} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(bench_${subject} PRIVATE _GNU_SOURCE)
  target_compile_options(bench_${subject} PRIVATE -Wall -Wextra -Wno-unused-parameter -ffp-contract=off $<$<CONFIG:Release>:-O3>
                         $<$<BOOL:${CURVEBODY_WERROR}>:-Werror>)
  add_test(NAME bench_${subject} COMMAND bench_${subject} --quick)
  curvebody_test(bench_${subject} bench_${subject} nightly release)
endforeach()
if(TARGET bench_work_precision)
  target_link_libraries(bench_work_precision PRIVATE SUNDIALS::cvode SUNDIALS::arkode)
endif()
target_link_libraries(bench_searches PRIVATE slsqp)
target_link_libraries(bench_mujoco PRIVATE mujoco_beside)
target_link_libraries(bench_joints PRIVATE mujoco_beside)
