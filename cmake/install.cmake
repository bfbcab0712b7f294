# One archive, the public headers, a CMake package and a pkg-config file; all of them may be moved after installation.
include(CMakePackageConfigHelpers)
set(tartan_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tartan")

install(TARGETS tartan EXPORT tartan_targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY include/tartan DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
install(EXPORT tartan_targets NAMESPACE tartan:: DESTINATION "${tartan_package_dir}")

configure_package_config_file(cmake/tartan-config.cmake.in tartan-config.cmake
  INSTALL_DESTINATION "${tartan_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(tartan-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tartan-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/tartan-config-version.cmake"
  DESTINATION "${tartan_package_dir}")

set(pc_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
file(RELATIVE_PATH pc_to_prefix "/prefix/${pc_dir}" "/prefix")
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/tartan.pc.in tartan.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tartan.pc" DESTINATION "${pc_dir}")
