# 32-bit, big-endian: AIX's machine.
set(triplet powerpc-linux-gnu)
set(processor ppc)
set(emulator ppc)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
