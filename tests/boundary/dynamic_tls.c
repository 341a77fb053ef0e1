/* What a preloaded library must never contain: the negative control of tls_relocations.sh and
 * program_names.sh. */
#include <unistd.h>

__thread int visits;

int visit(void) { return ++visits; }
int parent(void) { return getppid(); }
