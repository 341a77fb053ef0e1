/* known_shares SECONDS SEED: twelve functions with the same machine code, called in random order, whose
 * shares of the program's CPU time are known: 40, 20, 12, 8, 6, 5, 3.5, 2.5, 1.5, 0.8, 0.5 and 0.2 %. A call
 * takes about 20 us. */
#include "spin.h"

#include <stdio.h>

#define FUNCTION(name) \
  __attribute__((noinline, aligned(64))) uint64_t name(uint64_t value) { return turn(20000, value); }
FUNCTION(share_00)
FUNCTION(share_01)
FUNCTION(share_02)
FUNCTION(share_03)
FUNCTION(share_04)
FUNCTION(share_05)
FUNCTION(share_06)
FUNCTION(share_07)
FUNCTION(share_08)
FUNCTION(share_09)
FUNCTION(share_10)
FUNCTION(share_11)

typedef uint64_t (*function)(uint64_t);
static const function kFunctions[12] = {share_00, share_01, share_02, share_03, share_04, share_05,
                                        share_06, share_07, share_08, share_09, share_10, share_11};
static const unsigned kPerMille[12] = {400, 200, 120, 80, 60, 50, 35, 25, 15, 8, 5, 2};

static uint64_t g_random;

static uint64_t random_below(uint64_t limit) {
  g_random ^= g_random >> 12, g_random ^= g_random << 25, g_random ^= g_random >> 27;
  return (g_random * 0x2545f4914f6cdd1du >> 20) % limit;
}

/* A thousand calls, each function exactly its per mille of them, in random order. */
static uint64_t one_deck(uint64_t value) {
  unsigned char deck[1000];
  unsigned count = 0;
  for (unsigned f = 0; f < 12; ++f)
    for (unsigned i = 0; i < kPerMille[f]; ++i) deck[count++] = (unsigned char)f;
  for (unsigned i = count; i > 1; --i) {
    unsigned j = (unsigned)random_below(i);
    unsigned char card = deck[i - 1];
    deck[i - 1] = deck[j];
    deck[j] = card;
  }
  for (unsigned i = 0; i < count; ++i) value = kFunctions[deck[i]](value);
  return value;
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  g_random = argc > 2 ? strtoull(argv[2], NULL, 0) * 2 + 1 : 1;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = one_deck(value);
  return value == 42;
}
