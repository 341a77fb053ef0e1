/* Preloaded: clock(3) in which each call takes 20 ms. What a program does for half a second ends at once. */
#include <time.h>

clock_t clock(void) {
  static clock_t now;
  return now += CLOCKS_PER_SEC / 50;
}
