/* What a room that runs in the program must never contain: the negative control of room_symbols.sh. */
#include <stdlib.h>

void* keep_in_a_program(size_t bytes) { return malloc(bytes); }
