# What `cmake --install` puts where. DESTDIR and --prefix are honoured; every file finds its neighbours relatively.

if(TARGET pctally)
  install(TARGETS pctally RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(library preload glibc)
  if(TARGET pctally_${library})
    install(TARGETS pctally_${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pctally)
  endif()
endforeach()
if(TARGET pctally_shared)
  include(cmake/package.cmake)
endif()

include(cmake/manual.cmake)

install(FILES completion/pctally.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pctally)
# zsh reads vendor-completions of /usr alone (a directory of Debian's); of /usr/local it reads site-functions.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(zsh_completions vendor-completions)
else()
  set(zsh_completions site-functions)
endif()
install(FILES completion/_pctally DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_completions})
install(FILES completion/pctally.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# The documentation lies as it does in the sources, so that its links work. The link to a header is changed to where
# that is installed.
file(RELATIVE_PATH headers_from_doc ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(READ README.md readme)
string(REPLACE "](include/pctally/" "](${headers_from_doc}/pctally/" readme "${readme}")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/README.md CONTENT "${readme}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
install(FILES ${PROJECT_BINARY_DIR}/package/README.md LICENSE CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/RESULTS.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
