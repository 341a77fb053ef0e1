/* Linked to a program of the tests, it records that program with call paths, from before main to its end:
 * into SELF_PROFILE, with engine SELF_ENGINE and trees of SELF_PATH_BYTES. What the program executes is not
 * recorded. */
#include <pctally/pctally.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void begin(void) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  const char* bytes = getenv("SELF_PATH_BYTES");
  options.path = getenv("SELF_PROFILE");
  options.engine = getenv("SELF_ENGINE");
  options.period_ns = 250000;
  options.flags = PCTALLY_CALLERS | PCTALLY_OVERWRITE;
  if (options.path == NULL) return;
  if (bytes != NULL) options.path_bytes = strtoul(bytes, NULL, 10);
  if (pctally_start(&options) != 0) {
    fprintf(stderr, "%s\n", pctally_error());
    exit(77);
  }
  unsetenv("SELF_PROFILE");
}

__attribute__((destructor)) static void end(void) { pctally_stop(); }
