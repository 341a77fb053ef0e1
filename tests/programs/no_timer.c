/* no_timer CMD ARGS...: runs CMD on a kernel whose timers can be set and never fire. */
#include "refuse.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return run_refusing(SYS_timer_settime, SYS_timer_settime, 0, argv + 1);
}
