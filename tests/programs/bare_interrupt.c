/* bare_interrupt inherit|machine PERIOD_NS CMD...: runs CMD with the sampling interrupt of a cpu-clock event
 * that nobody consumes: what no engine on that interrupt can be cheaper than. Prints nothing; CMD's exit
 * status is its own. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int machine = strcmp(argv[1], "machine") == 0;
  struct perf_event_attr attr = {
      .size = sizeof attr, .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK};
  attr.sample_period = strtoull(argv[2], NULL, 10);
  attr.sample_type = PERF_SAMPLE_IP;
  attr.inherit = !machine;
  attr.exclude_idle = 1;
  attr.exclude_kernel = !machine;
  for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); ++cpu) {
    /* Without FD_CLOEXEC: the event lives as long as the command. */
    if (syscall(SYS_perf_event_open, &attr, machine ? -1 : 0, cpu, -1, 0) < 0) {
      perror("bare_interrupt: perf_event_open");
      return 125;
    }
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
