# The library for other programs: headers, pkg-config file, CMake package with the target pctally::pctally.
include(CMakePackageConfigHelpers)

set_target_properties(pctally_shared PROPERTIES EXPORT_NAME pctally)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pctally)
install(TARGETS pctally_shared EXPORT pctally
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
install(EXPORT pctally NAMESPACE pctally:: DESTINATION ${package_dir} FILE pctallyTargets.cmake)
install(DIRECTORY include/pctally DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

configure_package_config_file(cmake/pctallyConfig.cmake.in ${PROJECT_BINARY_DIR}/package/pctallyConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/pctallyConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/pctallyConfig.cmake
              ${PROJECT_BINARY_DIR}/package/pctallyConfigVersion.cmake DESTINATION ${package_dir})

# The prefix is found from the file's own place, so that a tree may be moved or staged.
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/pctally.pc.in ${PROJECT_BINARY_DIR}/package/pctally.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/pctally.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# One file for each system. no_header is what makes a source without any header find that system's calls and not the C
# library's: a header of our calls alone, as such a source may declare or define any other name itself.
set(no_header_svr4 "-include pctally_no_header.h")
set(no_header_hpux "-include pctally_no_header.h")
set(no_header_bsd "-include pctally_no_header.h")
set(no_header_tru64 "-include pctally_no_header.h")
set(no_header_aix "-include pctally_no_header.h")
set(no_header_glibc "-include pctally_no_header.h")
set(no_header_irix "-include pctally_no_header.h")
foreach(system svr4 hpux bsd tru64 aix irix glibc n64)
  set(no_header "${no_header_${system}}")
  configure_file(cmake/pctally-system.pc.in ${PROJECT_BINARY_DIR}/package/pctally-${system}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/pctally-${system}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
