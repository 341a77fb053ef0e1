/* A monstartup of the source's own, with the names that <mon.h> has for the sizes of its buffers. */
#include <sys/types.h>
#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

/* As many bytes as the call counts of the ranges take. */
static long for_counts(struct frag *piece)
{
    long bytes = 0, range, arcs;
    for (; piece->p_high; piece++) {
        range = piece->p_high - piece->p_low;
        arcs = TO_NUM_ELEMENTS(range);
        if (arcs < MINARCS) arcs = MINARCS;
        if (arcs > TO_MAX - 1) arcs = TO_MAX - 1;
        bytes += FROM_STG_SIZE(range) + arcs * sizeof(struct tostruct) + sizeof(struct gfctl);
    }
    return bytes;
}

static struct prof ranges[3];

static int start(struct frag *piece)
{
    long counts = for_counts(piece), bytes = counts;
    int i, n;
    caddr_t space;
    for (n = 0; piece[n].p_high; n++) {
        ranges[n].p_low = (caddr_t)ROUNDDOWN((size_t)piece[n].p_low, INST_CNT_SIZE);
        ranges[n].p_high = (caddr_t)ROUNDUP((size_t)piece[n].p_high, INST_CNT_SIZE);
        bytes += HIST_STG_SIZE(ranges[n].p_high - ranges[n].p_low);
    }
    _mondata.monstubuf = space = (caddr_t)malloc(bytes + HIST_COUNTER_SIZE);
    for (i = 0; i < n; i++) {
        ranges[i].p_scale = HIST_SCALE_1_TO_1;
        ranges[i].p_buff = (HISTCOUNTER *)space;
        ranges[i].p_bufsize = HIST_NUM_COUNTERS(ranges[i].p_high - ranges[i].p_low);
        if (i == 0) ranges[i].p_bufsize += (counts + HIST_COUNTER_SIZE - 1) / HIST_COUNTER_SIZE;
        space += ranges[i].p_bufsize * HIST_COUNTER_SIZE;
    }
    return monitor(1, 1, ranges, -1, counts);
}

static unsigned long sum(HISTCOUNTER *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }

int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    struct frag pieces[3];
    int of_hot = (caddr_t)hot > (caddr_t)cold;
    unsigned long h, c;
    memset(pieces, 0, sizeof pieces);
    pieces[of_hot].p_low = (caddr_t)hot;
    pieces[1 - of_hot].p_low = (caddr_t)cold;
    pieces[0].p_high = pieces[0].p_low + 255;
    pieces[1].p_high = pieces[1].p_low + 255;
    if (_mondata.prof_type != _PROF_TYPE_IS_NONE || _mondata.profiling || strcmp(MON_OUT, "mon.out")) return 2;
    _mondata.prof_type = _PROF_TYPE_IS_PG;
    if (start(pieces) != 0) return 3;
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    monitor(0);
    h = sum(ranges[of_hot].p_buff, 64);
    c = sum(ranges[1 - of_hot].p_buff, 64);
    free(_mondata.monstubuf);
    printf("hot %lu cold %lu\n", h, c);
    return !(fopen(GMON_OUT, "r") && h > 10 && h > 3 * c);
}
