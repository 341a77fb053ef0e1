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
install(FILES completion/_pctally DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES completion/pctally.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.json"
        PATTERN decisions EXCLUDE)
