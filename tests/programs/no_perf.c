/* no_perf [EPERM|ENOSYS|EACCES] CMD ARGS...: runs CMD where perf_event_open and bpf are refused, as a
 * container's seccomp profile does. */
#include <errno.h>
#include <string.h>

#include "refuse.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  unsigned error = strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : strcmp(argv[1], "EACCES") == 0 ? EACCES : EPERM;
  return run_refusing(SYS_perf_event_open, SYS_bpf, error, argv + 2);
}
