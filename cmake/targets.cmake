# One static library per folder of src/. The linker repeats what tools/check_layers.py checks in the includes:
# a folder sees exactly the targets named in its DEPENDS.

# Warnings are errors with the tests, for whoever changes the sources. A compiler of tomorrow, which warns of more, builds
# what users build.
set(PCTALLY_WERROR)
if(PCTALLY_TESTS)
  set(PCTALLY_WERROR -Werror)
endif()
set(PCTALLY_WARNINGS -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpointer-arith -Wcast-qual -Wundef ${PCTALLY_WERROR})

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")  # its own standard is newer than the libstdc++ it is used with
  list(APPEND PCTALLY_WARNINGS -Wno-deprecated-declarations -Wthread-safety)  # the locks: base/mutex.h
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # without, no two precompiled headers are the same to ccache
endif()

# Capture code runs in other people's programs and links libc alone.
set(PCTALLY_CAPTURE_FLAGS -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
    -fvisibility-inlines-hidden -ftls-model=initial-exec)

# The tick runs inside signal handlers: general registers only, no calls the compiler adds behind our back.
set(PCTALLY_TICK_FLAGS ${PCTALLY_CAPTURE_FLAGS} -ffreestanding -fno-stack-protector -fno-jump-tables
    -fno-sanitize=all -O2)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86|aarch64|arm64")
  set(PCTALLY_HANDLER_FLAGS -mgeneral-regs-only)
  list(APPEND PCTALLY_TICK_FLAGS ${PCTALLY_HANDLER_FLAGS})
endif()

if(PCTALLY_SANITIZE)
  # Capture code has no type information for the check of virtual calls to look at. AddressSanitizer sees null pointers and
  # accesses beyond an object by itself; the checks of the other sanitizer for them take clang a sixth of its time.
  # Debug information names files from the top of the sources on: ccache may serve a clone with what it has of another.
  set(PCTALLY_SANITIZE_FLAGS -fsanitize=${PCTALLY_SANITIZE} -fno-sanitize=vptr,null,object-size -fno-omit-frame-pointer
      -fno-sanitize-recover=all -fdebug-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()
if(PCTALLY_FUZZ)  # the rooms tell the fuzzers which of their code an input reached
  list(APPEND PCTALLY_SANITIZE_FLAGS -fsanitize=fuzzer-no-link)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld PCTALLY_LLD)
  if(PCTALLY_LLD)  # some 30 programs of 40 MB: a third of the time that binutils' linker takes for them
    string(APPEND CMAKE_EXE_LINKER_FLAGS " -fuse-ld=lld")
  endif()
endif()

# What most sources outside programs include, read once; it does not pay for the few rooms whose races are looked for. A user's build is
# the one that is tested. Packages are made without both of these: a source that does not include all it needs is found there.
if(PCTALLY_SANITIZE STREQUAL "thread")
  set(precompile OFF)
else()
  set(precompile ON)
endif()
option(PCTALLY_PRECOMPILE "precompiled headers for what runs outside programs" ${precompile})
# Every source, even an empty one, costs g++ 12 a second to instantiate the templates that its precompiled headers left pending
# (clang a tenth). Some sources of a room at a time are compiled as one.
option(PCTALLY_UNITY "sources of a room compiled together, for what runs outside programs" ON)
function(pctally_unity target)
  if(PCTALLY_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # a class of a source may well hold what is in an unnamed namespace there
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

set(PCTALLY_OUTSIDE_FLAGS ${PCTALLY_WARNINGS} ${PCTALLY_SANITIZE_FLAGS})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms at every + of strings: GCC bug 105651.
  list(APPEND PCTALLY_OUTSIDE_FLAGS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# pctally_outside(target depend...): flags of a library that runs outside programs, and its precompiled headers: the C++
# library's, and fmt's if it depends on that.
function(pctally_outside target)
  # -O2: with -O3 these rooms take a fifth more time to compile, and reports none less to run. What makes text takes two fifths
  # less at -O1 (with clang and the sanitizers half at -O0) and runs as quickly, but for the statistics.
  set(precompiled pctally_outside_headers)
  set(level $<$<CONFIG:Release>:-O2>)
  if(target MATCHES "^pctally_(report|export|tool)")
    if(PCTALLY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      set(level -O0)
      string(APPEND precompiled _of_text)
    elseif(NOT target STREQUAL "pctally_report_statistics")
      set(level $<$<CONFIG:Release>:-O1>)
      string(APPEND precompiled _of_text)
    endif()
  endif()
  set(flags ${PCTALLY_OUTSIDE_FLAGS} ${level})
  target_compile_options(${target} PRIVATE ${flags})
  pctally_unity(${target})
  if(NOT PCTALLY_PRECOMPILE)
    return()
  endif()
  set(headers <algorithm> <cmath> <functional> <map> <memory> <optional> <span> <string> <string_view> <tuple> <unordered_map> <vector>)
  set(library "")
  if("fmt::fmt" IN_LIST ARGN)
    list(PREPEND headers <fmt/format.h>)
    string(APPEND precompiled _fmt)
    set(library fmt::fmt)
  endif()
  if(NOT TARGET ${precompiled})
    file(WRITE ${PROJECT_BINARY_DIR}/${precompiled}.cc "")
    add_library(${precompiled} OBJECT ${PROJECT_BINARY_DIR}/${precompiled}.cc)
    target_compile_options(${precompiled} PRIVATE ${flags})
    target_link_libraries(${precompiled} PRIVATE ${library})
    target_precompile_headers(${precompiled} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# pctally_folder(name CAPTURE|RECORDER|ANALYSIS SOURCES ... DEPENDS ...)
# CAPTURE: runs in programs. The others run outside them, with the C++ library, exceptions and type information.
function(pctally_folder name)
  cmake_parse_arguments(ARG "CAPTURE;RECORDER;ANALYSIS" "" "SOURCES;DEPENDS;TESTS" ${ARGN})
  add_library(pctally_${name} STATIC ${ARG_SOURCES})
  target_include_directories(pctally_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_options(pctally_${name} INTERFACE ${PCTALLY_SANITIZE_FLAGS})
  if(ARG_CAPTURE)
    target_compile_options(pctally_${name} PRIVATE ${PCTALLY_WARNINGS} ${PCTALLY_SANITIZE_FLAGS}
                                                   $<$<COMPILE_LANGUAGE:CXX>:${PCTALLY_CAPTURE_FLAGS}>)
  else()
    pctally_outside(pctally_${name} ${ARG_DEPENDS})
  endif()
  foreach(depend ${ARG_DEPENDS})
    target_link_libraries(pctally_${name} PUBLIC ${depend})
  endforeach()
  if(PCTALLY_TESTS AND ARG_TESTS)
    pctally_test(${name}_test SOURCES ${ARG_TESTS} DEPENDS pctally_${name})
  endif()
endfunction()

# pctally_capture_library(target SHARED|MODULE OUTPUT name MAP version-script SOURCES ... DEPENDS ...): what runs in
# programs. Linked by the C driver, so that libc is all it needs; never unloaded, for a tick may be on its way.
function(pctally_capture_library target kind)
  cmake_parse_arguments(ARG "" "OUTPUT;MAP" "SOURCES;DEPENDS" ${ARGN})
  add_library(${target} ${kind} ${ARG_SOURCES})
  target_compile_options(${target} PRIVATE ${PCTALLY_WARNINGS} ${PCTALLY_CAPTURE_FLAGS} ${PCTALLY_SANITIZE_FLAGS})
  target_link_libraries(${target} PRIVATE ${ARG_DEPENDS})
  target_link_options(${target} PRIVATE -Wl,--version-script=${ARG_MAP} -Wl,-z,nodelete -Wl,-z,now -Wl,-z,relro
                                        -Wl,--as-needed)
  if(NOT PCTALLY_SANITIZE)  # a name of the C library may be a function of the program's
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:pctally_own_calls>)
    target_link_options(${target} PRIVATE -Wl,--no-undefined -Wl,-Bsymbolic-functions -Wl,--wrap=syscall)
  endif()
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT} LINKER_LANGUAGE C LINK_DEPENDS ${ARG_MAP})
endfunction()

# For another machine there is no GoogleTest in the shape of a library: it is built from the sources Debian ships.
if(PCTALLY_TESTS AND CMAKE_CROSSCOMPILING)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK ON)
  add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
endif()

# What nearly every test includes, read once. In the tests alone: what is installed is built from its own includes.
function(pctally_precompile_for_tests target)
  if(NOT TARGET pctally_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/tests/headers.cc "")
    add_library(pctally_test_headers OBJECT ${PROJECT_BINARY_DIR}/tests/headers.cc)
    set_target_properties(pctally_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as an executable's source
    target_compile_options(pctally_test_headers PRIVATE ${PCTALLY_TEST_FLAGS} -fPIE)
    target_link_libraries(pctally_test_headers PRIVATE GTest::gmock GTest::gtest)
    target_precompile_headers(pctally_test_headers PRIVATE <gtest/gtest.h> <gmock/gmock.h> <algorithm> <atomic> <filesystem>
      <fstream> <functional> <map> <random> <sstream> <string> <thread> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM pctally_test_headers)
endfunction()

# A program of tests is compiled quickly rather than well: clang with AddressSanitizer takes twice as long at -O1 as at -O0.
# GCC 12 warns without cause of strings at -O1.
set(PCTALLY_TEST_FLAGS ${PCTALLY_WARNINGS} ${PCTALLY_SANITIZE_FLAGS})
list(REMOVE_ITEM PCTALLY_TEST_FLAGS -fsanitize=fuzzer-no-link)  # no fuzzer runs them
if(PCTALLY_SANITIZE)
  list(APPEND PCTALLY_TEST_FLAGS -DPCTALLY_SANITIZED)
endif()
if(PCTALLY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND PCTALLY_TEST_FLAGS -O0)
else()
  list(APPEND PCTALLY_TEST_FLAGS -Og)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND PCTALLY_TEST_FLAGS -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized)
else()
  list(APPEND PCTALLY_TEST_FLAGS -Wno-varargs)  # the error handler of osProfile(3P) has a short in front of its ...
endif()

# What reads files, and the analysis: scripts/check builds these programs with the sanitizers and not a second time without. Rooms
# that stand in front of pthread_create(3) and read the stacks of interrupted threads cannot be run under AddressSanitizer: it
# takes both for faults of theirs. The recorder's tests fork processes that hang on purpose, and its runtime hangs with them.
set(PCTALLY_SANITIZED_TESTS base_test base_kernel_test base_file_test monfile_read_test histread_test perf_test object_test profile_test report_test report_account_test report_print_test
    report_names_test report_live_test report_prof_test report_diff_test report_paths_test report_annotate_test report_html_test
    export_test import_test golden_test monitor_round_trip_test)

# Patterns of GoogleTest (Suite.Case, with * and ?) that are left out, one string with colons: check-machines sets it.
set(PCTALLY_LEFT_OUT "" CACHE STRING "tests to leave out")

# pctally_test(name SOURCES ... DEPENDS ... [LABELS ...] [CLOCK pattern...] [ALL pattern...]): a GoogleTest
# program, which is one ctest test with the labels (default: unit). The cases of the patterns are tests of
# their own: name.clock, which wait for ticks, and name.all, which take long.
function(pctally_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LABELS;CLOCK;ALL" ${ARGN})
  if(NOT TARGET GTest::gtest)
    find_package(GTest REQUIRED)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE ${PCTALLY_TEST_FLAGS})
  target_link_options(${name} PRIVATE ${PCTALLY_SANITIZE_FLAGS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest GTest::gtest_main)
  if(CMAKE_SIZEOF_VOID_P EQUAL 4)  # a test may look at 64 bits at once; what runs in programs may not
    target_link_libraries(${name} PRIVATE atomic)
  endif()
  pctally_precompile_for_tests(${name})
  pctally_unity(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  set(group pctally_tests)
  if(name IN_LIST PCTALLY_SANITIZED_TESTS)
    set(group pctally_sanitized_tests)
    list(APPEND ARG_LABELS sanitized)
  endif()
  if(NOT TARGET ${group})
    add_custom_target(${group})
  endif()
  add_dependencies(${group} ${name})
  list(JOIN ARG_CLOCK ":" clock)
  list(JOIN ARG_ALL ":" all)
  string(JOIN ":" others ${PCTALLY_LEFT_OUT} ${clock} ${all})
  pctally_add_cases(${name} ${name} "*" "${others}" "${ARG_LABELS}")
  pctally_add_cases(${name}.clock ${name} "${clock}" "${PCTALLY_LEFT_OUT}" "${ARG_LABELS}")
  pctally_add_cases(${name}.all ${name} "${all}" "${PCTALLY_LEFT_OUT}" all)
endfunction()

function(pctally_add_cases name program cases others labels)
  if(NOT cases)
    return()
  endif()
  set(filter "${cases}")
  if(others)
    string(APPEND filter "-${others}")
  endif()
  add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "${labels}" FAIL_REGULAR_EXPRESSION "Running 0 tests")  # GoogleTest exits 0
endfunction()

# pctally_all_but_sanitized_tests(): a target that builds everything but the programs of pctally_sanitized_tests.
function(pctally_targets_below directory out)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(folder ${folders})
    pctally_targets_below(${folder} more)
    list(APPEND targets ${more})
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

function(pctally_all_but_sanitized_tests)
  pctally_targets_below(${PROJECT_SOURCE_DIR} targets)
  list(REMOVE_ITEM targets pctally_sanitized_tests ${PCTALLY_SANITIZED_TESTS})
  add_custom_target(pctally_all_but_sanitized_tests)
  add_dependencies(pctally_all_but_sanitized_tests ${targets})
endfunction()
