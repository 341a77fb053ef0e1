# 64-bit, little-endian, 8 KiB pages, no 16-bit stores: Tru64's machine.
set(triplet alpha-linux-gnu)
set(processor alpha)
set(emulator alpha)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
