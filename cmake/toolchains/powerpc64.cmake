# 64-bit, big-endian, function descriptors: AIX's machine.
set(triplet powerpc64-linux-gnu)
set(processor ppc64)
set(emulator ppc64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
