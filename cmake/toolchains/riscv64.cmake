# 64-bit, little-endian: first class.
set(triplet riscv64-linux-gnu)
set(processor riscv64)
set(emulator riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
