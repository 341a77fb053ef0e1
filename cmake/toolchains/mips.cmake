# 32-bit, big-endian, strict alignment: IRIX's and the Nintendo 64's.
set(triplet mips-linux-gnu)
set(processor mips)
set(emulator mips)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
