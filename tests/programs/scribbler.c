/* scribbler MODE SECONDS [PID ADDRESS]: damages the profile file that is mapped into it, as a stray pointer
   or an attacker may. Run by a recording's engine of the program.

     processes, objects, segments   links the newest record of a chain to itself
     used, limit                    pool.used or pool.limit, over and over
     ring                           the place of the ring of ticks put aside, over and over
     keys                           ticks put aside for ever new processes, as fast as they are taken
     words                          every word of what is in use, one unit at a time, and at the end all of it
     random                         words of what is in use, now here, now there, most of them for good
     claim                          as another user: ticks put aside for process PID, at ADDRESS and at no
   code */
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static unsigned char* g_file;

static volatile uint32_t* word(uint64_t offset) { return (volatile uint32_t*)(g_file + offset); }
static volatile uint64_t* wide(uint64_t offset) { return (volatile uint64_t*)(g_file + offset); }
static uint64_t unit(uint32_t number) { return 4096 + 64ull * number; }

enum { kUsed = 32, kLimit = 36, kObjects = 40, kProcesses = 44, kRing = 56, kCounted = 320, kOutside = 328 };

static int find_file(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[5000];
  unsigned long start;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (strstr(line, ".pct") != NULL && strstr(line, "rw-s") != NULL && sscanf(line, "%lx", &start) == 1)
      g_file = (unsigned char*)start;
  if (maps != NULL) fclose(maps);
  return g_file != NULL;
}

static void put_aside(uint64_t pc, uint64_t weight, uint32_t process) {
  uint64_t ring = unit(*word(kRing));
  uint32_t claimed = *word(ring);
  uint64_t slot = ring + 32 + 32 * (claimed & 1023);
  if (claimed - *word(ring + 8) >= 1000) return;
  *wide(slot) = pc;
  *wide(slot + 8) = weight;
  *word(slot + 16) = process;
  *word(slot + 20) = claimed << 1 | 1;
  *word(ring) = claimed + 1;
}

static void link_to_itself(const char* mode) {
  if (mode[0] == 'p') *word(unit(*word(kProcesses))) = *word(kProcesses);
  if (mode[0] == 'o') *word(unit(*word(kObjects))) = *word(kObjects);
  uint32_t left = 100; /* another scribbler may have made a ring of the chain */
  for (uint32_t object = *word(kObjects); mode[0] == 's' && object != 0 && left-- != 0;
       object = *word(unit(object))) {
    uint32_t segment = *word(unit(object) + 4);
    if (segment != 0) *word(unit(segment)) = segment;
  }
}

static void scribble_unit(uint64_t offset, uint32_t seed) {
  static const uint32_t values[] = {0, ~0u, 1, 0x7fffffff};
  for (unsigned i = 0; i < 16; ++i) {
    uint32_t number = (seed * 2654435761u + i * 40503u) >> 3;
    *word(offset + 4 * i) = number % 5 == 4 ? number % (2 * *word(kUsed) + 1) : values[number % 5];
  }
}

static uint32_t units_in_use(void) { return *word(kUsed) < *word(kLimit) ? *word(kUsed) : *word(kLimit); }

/* Every unit in turn stays damaged for `hold_ns`, then is put back; in the end all stay so. */
static void scribble_words(uint64_t hold_ns) {
  uint64_t end = unit(units_in_use());
  for (uint32_t round = 0; round < 2; ++round)
    for (uint64_t offset = 0; offset < end; offset = offset == 384 ? 4096 : offset + 64) {
      unsigned char before[64];
      memcpy(before, g_file + offset, 64);
      scribble_unit(offset, (uint32_t)offset + round);
      for (uint64_t start = now_ns(CLOCK_MONOTONIC); now_ns(CLOCK_MONOTONIC) - start < hold_ns;) continue;
      memcpy(g_file + offset, before, 64);
    }
  for (uint64_t offset = 4096; offset < end; offset += 64) scribble_unit(offset, (uint32_t)offset);
  scribble_unit(0, 3);
}

/* What has a use only as the recorder reads it twice is met by chance. */
static void scribble_a_word(void) {
  uint32_t used = units_in_use();
  if (used < 65 || used > 1 << 20) used = 65;
  volatile uint32_t* there = word(unit((uint32_t)random() % used) + 4 * ((uint32_t)random() % 16));
  const uint32_t before = *there;
  const uint32_t values[] = {0, ~0u, before + 1, (uint32_t)random(), (uint32_t)random() % (2 * used)};
  *there = values[random() % 5];
  if (random() % 4 != 0) return;
  (void)turn(20000, 1);
  *there = before;
}

/* More than all other ticks together. */
static const uint64_t kClaimed = 1ull << 32;

static int claim(int pid, uint64_t address) {
  if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)) return 4;
  uint32_t fake = *word(kLimit) - 64;
  *word(unit(fake) + 4) = (uint32_t)pid;
  uint64_t counted = *wide(kCounted);
  for (int i = 0; i < 10; ++i) {
    put_aside(address, kClaimed, fake);
    put_aside(16, kClaimed, fake);
    usleep(50000);
  }
  printf("counted %llu\n", (unsigned long long)((*wide(kCounted) - counted) / kClaimed));
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3 || !find_file()) return 3;
  const char* mode = argv[1];
  uint32_t ring = *word(kRing), key = 0;
  uint64_t end = now_ns(CLOCK_MONOTONIC) + (uint64_t)(atof(argv[2]) * 1e9), value = 0;
  if (strcmp(mode, "claim") == 0 && argc == 5) {
    pid_t child = fork(); /* with what its parent had mapped */
    if (child == 0) exit(claim(atoi(argv[3]), strtoull(argv[4], NULL, 0)));
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }
  if (strcmp(mode, "words") == 0) scribble_words(100000);
  link_to_itself(mode);
  while (now_ns(CLOCK_MONOTONIC) < end) {
    if (strcmp(mode, "used") == 0) *word(kUsed) = ~0u;
    if (strcmp(mode, "limit") == 0) *word(kLimit) = value % 2 == 0 ? 0 : ~0u;
    if (strcmp(mode, "keys") == 0) put_aside(1, 1, key++);
    if (strcmp(mode, "random") == 0) scribble_a_word();
    if (strcmp(mode, "ring") == 0) *word(kRing) = value % 2 == 0 ? ring : 0xfffffff0;
    value = turn(100, value + 1);
  }
  return 0;
}
