/* What a preloaded library must never contain: the negative control of tls_relocations.sh. */
__thread int visits;

int visit(void) { return ++visits; }
