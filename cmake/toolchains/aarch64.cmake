# 64-bit, little-endian: first class.
set(triplet aarch64-linux-gnu)
set(processor aarch64)
set(emulator aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
