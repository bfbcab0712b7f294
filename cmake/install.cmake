# The library: an archive, the public headers, a CMake package and a pkg-config file. Each component: the same, beside it.
# All of them may be moved after installation.
include(CMakePackageConfigHelpers)
set(tartan_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tartan")

install(TARGETS tartan EXPORT tartan_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set(left_out)
get_property(modules GLOBAL PROPERTY tartan_optional_modules)
get_property(components GLOBAL PROPERTY tartan_components)
foreach(module IN LISTS modules)
  if(NOT module IN_LIST components)
    list(APPEND left_out PATTERN "tartan/${module}" EXCLUDE)
  endif()
endforeach()
install(DIRECTORY include/tartan DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" ${left_out})
install(EXPORT tartan_targets NAMESPACE tartan:: DESTINATION "${tartan_package_dir}")

set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_to_prefix "/prefix/${pc_dir}" "/prefix")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/tartan.pc.in tartan.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tartan.pc" DESTINATION "${pc_dir}")

set(tartan_component_needs)  # for tartan-config.cmake.in
foreach(component IN LISTS components)
  install(TARGETS tartan_${component}_archive EXPORT tartan_${component}_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT tartan_${component}_targets NAMESPACE tartan:: DESTINATION "${tartan_package_dir}")
  get_property(component_needs GLOBAL PROPERTY "tartan_${component}_needs")
  get_property(component_uses GLOBAL PROPERTY "tartan_${component}_components")
  string(APPEND tartan_component_needs "set(tartan_${component}_package ${component_needs})\nset(tartan_${component}_uses ${component_uses})\n")
  list(JOIN component_needs " " component_needs)
  list(TRANSFORM component_uses REPLACE "(.+)" "tartan-\\1 = ${PROJECT_VERSION}")
  list(JOIN component_uses " " component_uses)
  configure_file(cmake/tartan-component.pc.in tartan-${component}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tartan-${component}.pc" DESTINATION "${pc_dir}")
endforeach()

get_property(tartan_base_modules GLOBAL PROPERTY tartan_base_modules)  # for tartan-config.cmake.in
configure_package_config_file(cmake/tartan-config.cmake.in tartan-config.cmake
  INSTALL_DESTINATION "${tartan_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(tartan-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tartan-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/tartan-config-version.cmake" cmake/xdr.cmake
  DESTINATION "${tartan_package_dir}")
