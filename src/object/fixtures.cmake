# Small programs for the tests of this folder, built with the compilers at hand. Each lands in PCTALLY_FIXTURES; those a
# machine has no compiler for are missing, and their tests say they are skipped.
set(PCTALLY_FIXTURES ${CMAKE_CURRENT_BINARY_DIR}/fixtures)
file(MAKE_DIRECTORY ${PCTALLY_FIXTURES}/.debug ${PCTALLY_FIXTURES}/alone ${PCTALLY_FIXTURES}/companions)
set(fixture_sources ${CMAKE_CURRENT_SOURCE_DIR}/testdata)
set(fixture_files)

function(object_fixture name)
  cmake_parse_arguments(ARG "" "" "COMMAND;DEPENDS" ${ARGN})
  add_custom_command(OUTPUT ${PCTALLY_FIXTURES}/${name} COMMAND ${ARG_COMMAND} DEPENDS ${ARG_DEPENDS}
    WORKING_DIRECTORY ${PCTALLY_FIXTURES} VERBATIM)
  set(fixture_files ${fixture_files} ${PCTALLY_FIXTURES}/${name} PARENT_SCOPE)
endfunction()

# object_program(name compiler source flags...)
function(object_program name compiler source)
  object_fixture(${name} COMMAND ${compiler} ${ARGN} -o ${PCTALLY_FIXTURES}/${name} ${fixture_sources}/${source}
    DEPENDS ${fixture_sources}/${source} ${fixture_sources}/unit.inc)
  set(fixture_files ${fixture_files} PARENT_SCOPE)
endfunction()

# object_copy(name original tool flags...)
function(object_copy name original tool)
  object_fixture(${name} COMMAND ${tool} ${ARGN} ${PCTALLY_FIXTURES}/${original} ${PCTALLY_FIXTURES}/${name}
    DEPENDS ${PCTALLY_FIXTURES}/${original})
  set(fixture_files ${fixture_files} PARENT_SCOPE)
endfunction()

set(with_id -Wl,--build-id=sha1)
object_program(layout ${CMAKE_C_COMPILER} layout.c -O1 -g ${with_id})
object_copy(layout_stripped layout ${CMAKE_OBJCOPY} --strip-all)
object_program(dropped ${CMAKE_C_COMPILER} dropped.c -O1 -g -ffunction-sections -Wl,--gc-sections)
object_program(circle ${CMAKE_C_COMPILER} circle.S -nostdlib -Wl,-e,main)
object_program(methods ${CMAKE_C_COMPILER} methods.S -nostdlib -Wl,-e,main)
object_program(shared ${CMAKE_C_COMPILER} shared.S -nostdlib -Wl,-e,main)
object_program(companions/common ${CMAKE_C_COMPILER} common.S -nostdlib -Wl,-e,main -Wl,--build-id=0xabcdef0102030405)
object_program(ranges ${CMAKE_C_COMPILER} ranges.S -nostdlib -Wl,-e,main)
object_program(deep ${CMAKE_CXX_COMPILER} deep.cc -O1 -g)
object_program(local ${CMAKE_CXX_COMPILER} local.cc -O2 -g)
object_program(libcalls.so ${CMAKE_C_COMPILER} calls.c -O1 -shared -fPIC -fplt -Wl,-z,lazy ${with_id})
object_program(libcalls_now.so ${CMAKE_C_COMPILER} calls.c -O1 -shared -fPIC -fplt -Wl,-z,now)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  object_program(libcalls_cet.so ${CMAKE_C_COMPILER} calls.c -O1 -shared -fPIC -fcf-protection -Wl,-z,ibtplt,-z,lazy)
endif()

set(inlined_flags -O2 -g ${with_id})
object_program(inlined ${CMAKE_CXX_COMPILER} inlined.cc ${inlined_flags})
object_program(inlined_dwarf4 ${CMAKE_CXX_COMPILER} inlined.cc ${inlined_flags} -gdwarf-4)
object_program(inlined_dwarf2 ${CMAKE_CXX_COMPILER} inlined.cc ${inlined_flags} -gdwarf-2 -gstrict-dwarf)
object_copy(inlined_dwarf2_alone inlined_dwarf2 ${CMAKE_OBJCOPY} --remove-section=.debug_aranges)
object_program(inlined_split ${CMAKE_CXX_COMPILER} inlined.cc ${inlined_flags} -gsplit-dwarf)
object_fixture(inlined_split_alone COMMAND sh -c "\"$0\" -O2 -g -gsplit-dwarf -o alone/inlined \"$1\" && rm alone/*.dwo && mv alone/inlined inlined_split_alone"
  ${CMAKE_CXX_COMPILER} ${fixture_sources}/inlined.cc DEPENDS ${fixture_sources}/inlined.cc)
object_program(libunits.so ${CMAKE_CXX_COMPILER} inlined.cc ${inlined_flags} -shared -fPIC ${fixture_sources}/calls.c)
object_copy(libunits_zlib.so libunits.so ${CMAKE_OBJCOPY} --compress-debug-sections=zlib)
object_copy(inlined_zlib inlined ${CMAKE_OBJCOPY} --compress-debug-sections=zlib)

# Compiled by a path relative to PCTALLY_FIXTURES, and clang's own way to write an absolute one.
file(MAKE_DIRECTORY ${PCTALLY_FIXTURES}/sub)
object_fixture(sub/inlined.cc COMMAND ${CMAKE_COMMAND} -E copy ${fixture_sources}/inlined.cc sub/inlined.cc
  DEPENDS ${fixture_sources}/inlined.cc)
function(object_relative name compiler source)
  object_fixture(${name} COMMAND ${compiler} ${inlined_flags} ${ARGN} -o ${name} ${source}
    DEPENDS ${PCTALLY_FIXTURES}/sub/inlined.cc)
  set(fixture_files ${fixture_files} PARENT_SCOPE)
endfunction()
object_relative(relative_dwarf4 ${CMAKE_CXX_COMPILER} sub/inlined.cc -gdwarf-4)
object_relative(relative_dwarf5 ${CMAKE_CXX_COMPILER} sub/inlined.cc -gdwarf-5)
object_relative(relative_split ${CMAKE_CXX_COMPILER} sub/inlined.cc -gsplit-dwarf)
object_relative(relative_hidden ${CMAKE_CXX_COMPILER} sub/inlined.cc -fdebug-prefix-map=${PCTALLY_FIXTURES}=.)

# Separated debug information: found by the link in the same directory or in .debug, with and without a build id.
object_program(anonymous ${CMAKE_CXX_COMPILER} inlined.cc -O2 -g -Wl,--build-id=none)
object_copy(linked.debug inlined ${CMAKE_OBJCOPY} --only-keep-debug)
object_fixture(linked COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=linked.debug inlined linked
  DEPENDS ${PCTALLY_FIXTURES}/inlined ${PCTALLY_FIXTURES}/linked.debug)
# `strip -K main` of one without a dynamic table: it keeps a table of symbols.
object_program(symbols_whole ${CMAKE_C_COMPILER} layout.c -O1 -g ${with_id} -static-pie -nostdlib -Wl,-e,main)
object_copy(symbols.debug symbols_whole ${CMAKE_OBJCOPY} --only-keep-debug)
object_fixture(symbols_reduced COMMAND ${CMAKE_OBJCOPY} --strip-all --keep-symbol=main --add-gnu-debuglink=symbols.debug
  symbols_whole symbols_reduced DEPENDS ${PCTALLY_FIXTURES}/symbols_whole ${PCTALLY_FIXTURES}/symbols.debug)
# As rpmbuild makes it.
find_program(PCTALLY_XZ xz)
if(PCTALLY_XZ)
  object_fixture(packed_symbols COMMAND sh -c "\"$0\" --strip-debug symbols_whole packed_symbols.mini && \"$1\" -kf packed_symbols.mini && \
\"$0\" --strip-all --add-section .gnu_debugdata=packed_symbols.mini.xz symbols_whole packed_symbols"
    ${CMAKE_OBJCOPY} ${PCTALLY_XZ} DEPENDS ${PCTALLY_FIXTURES}/symbols_whole)
endif()
object_copy(.debug/anonymous.debug anonymous ${CMAKE_OBJCOPY} --only-keep-debug)
object_fixture(anonymous_linked
  COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=.debug/anonymous.debug anonymous anonymous_linked
  DEPENDS ${PCTALLY_FIXTURES}/anonymous ${PCTALLY_FIXTURES}/.debug/anonymous.debug)

execute_process(COMMAND ${CMAKE_OBJCOPY} --help OUTPUT_VARIABLE objcopy_help ERROR_QUIET)
if(objcopy_help MATCHES "zstd")
  object_copy(inlined_zstd inlined ${CMAKE_OBJCOPY} --compress-debug-sections=zstd)
endif()

find_program(PCTALLY_CLANGXX NAMES clang++-19 clang++-16 clang++-14 clang++)
if(PCTALLY_CLANGXX)
  object_program(inlined_clang5 ${PCTALLY_CLANGXX} inlined.cc ${inlined_flags} -gdwarf-5)
  object_program(inlined_clang_split ${PCTALLY_CLANGXX} inlined.cc ${inlined_flags} -gsplit-dwarf)
  object_relative(relative_clang4 ${PCTALLY_CLANGXX} sub/inlined.cc -gdwarf-4)
  object_relative(relative_clang5 ${PCTALLY_CLANGXX} sub/inlined.cc -gdwarf-5)
  object_relative(absolute_clang5 ${PCTALLY_CLANGXX} ${PCTALLY_FIXTURES}/sub/inlined.cc -gdwarf-5)
endif()
find_program(PCTALLY_CLANG NAMES clang-19 clang-16 clang-14 clang)
find_program(PCTALLY_LLD NAMES ld.lld)
if(PCTALLY_CLANG AND PCTALLY_LLD)
  foreach(machine aarch64 riscv64)
    object_program(libcalls_${machine}.so ${PCTALLY_CLANG} calls.c --target=${machine}-linux-gnu -O1 -shared -fPIC
      -nostdlib -fsemantic-interposition -fuse-ld=lld)
  endforeach()
endif()

add_custom_target(object_fixtures DEPENDS ${fixture_files})
