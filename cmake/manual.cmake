# The manual pages, from man/*.scd. Without scdoc there are none, and the configuration says so.
find_program(PCTALLY_SCDOC scdoc)
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.scd)
if(NOT PCTALLY_SCDOC)
  message(STATUS "manual pages: skipped (scdoc not installed)")
  return()
endif()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man)
foreach(source ${pages})
  get_filename_component(page ${source} NAME_WLE)
  string(REGEX MATCH "[0-9]$" section ${page})
  set(output ${PROJECT_BINARY_DIR}/man/${page})
  add_custom_command(OUTPUT ${output} DEPENDS ${source} VERBATIM
                     COMMAND sh -c "\"$1\" <\"$2\" >\"$3.new\" && mv \"$3.new\" \"$3\""
                             sh ${PCTALLY_SCDOC} ${source} ${output})
  list(APPEND manual ${output})
  install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
add_custom_target(pctally_manual ALL DEPENDS ${manual})
