/* A library that loader.c loads while it runs. */
#include "spin.h"

__attribute__((noinline)) uint64_t plugin_work(uint64_t turns) { return turn(turns, 1); }
