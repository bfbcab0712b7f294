# Every examples/NN_name.cpp is a program and a test; with NN_name.expected beside it, its output is compared.
file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/[0-9][0-9]_*.cpp")
foreach(source IN LISTS examples)
  get_filename_component(name "${source}" NAME_WE)
  set(target example_${name})
  add_executable(${target} "${source}")
  tartan_flags(${target})
  target_link_libraries(${target} PRIVATE tartan::tartan)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME "${name}" RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  string(REGEX REPLACE "\\.cpp$" ".expected" expected "${source}")
  add_test(NAME ${target} COMMAND "${CMAKE_COMMAND}" "-Dprogram=$<TARGET_FILE:${target}>" "-Dexpected=${expected}"
    -P "${PROJECT_SOURCE_DIR}/cmake/run_example.cmake")
  set_property(TEST ${target} PROPERTY LABELS examples)
endforeach()
