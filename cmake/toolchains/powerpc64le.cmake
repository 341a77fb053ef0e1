# 64-bit, little-endian.
set(triplet powerpc64le-linux-gnu)
set(processor ppc64le)
set(emulator ppc64le)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
