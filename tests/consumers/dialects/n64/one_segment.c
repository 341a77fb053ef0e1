/*
 * A game loop that profiles itself, as in the programming manual: one segment, one counter per instruction.
 * Called with an argument it runs until gperf stops it; without one it checks its own counters.
 */
#include <ultra64.h>
#include <stdio.h>

#define SEGMENT_BYTES 4096
#define COUNTERS (SEGMENT_BYTES / 4)

static u16 histogram[COUNTERS];
static OSProf segment;
static volatile u32 frames;

__attribute__((noinline, aligned(4096))) void updateWorld(u32 count)
{
    u32 i;
    for (i = 0; i < count; i++)
        frames = frames + 1;
}

int main(int argc, char **argv)
{
    u32 total = 0;
    u32 round, i;

    segment.histo_base = histogram;
    segment.histo_size = COUNTERS;
    segment.text_start = (u32 *)(size_t)&updateWorld;
    segment.text_end = segment.text_start + COUNTERS;

    osProfileInit(&segment, 1);
    osProfileStart(10000);
    for (round = 0; round < 100 || argc > 1; round++) {
        updateWorld(4000000);
        if (argc > 1 && round % 50 == 49)
            osProfileFlush();
    }
    osProfileStop();

    for (i = 0; i < COUNTERS; i++)
        total += histogram[i];
    printf("%u samples in updateWorld%s\n", (unsigned)total, argv[0] ? "" : "?");
    osProfileFlush();
    return total > 0 ? 0 : 1;
}
