# 32-bit, big-endian, function descriptors, no compare-and-swap: HP-UX's machine.
set(triplet hppa-linux-gnu)
set(processor parisc)
set(emulator hppa)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
