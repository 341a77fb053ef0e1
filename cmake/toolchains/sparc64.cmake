# 64-bit, big-endian, 8 KiB pages, strict alignment: SVR4's and BSD's.
set(triplet sparc64-linux-gnu)
set(processor sparc64)
set(emulator sparc64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
