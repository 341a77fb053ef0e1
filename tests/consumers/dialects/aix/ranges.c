#include <sys/types.h>
#include <mon.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static HISTCOUNTER space[128];
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long sum(unsigned short *from, int n) { unsigned long s = 0; while (n-- > 0) s += *from++; return s; }
static void *spin(void *arg) { hot(200000000L); return arg; }
int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    unsigned long h, c;
    struct prof range[3];
    int of_hot = (char *)hot > (char *)cold; /* ascending p_high */
    pthread_t thread;
    range[of_hot].p_low = (caddr_t)hot;
    range[of_hot].p_high = (caddr_t)hot + 128;
    range[of_hot].p_buff = space;
    range[1 - of_hot].p_low = (caddr_t)cold;
    range[1 - of_hot].p_high = (caddr_t)cold + 128;
    range[1 - of_hot].p_buff = space + 64;
    range[0].p_bufsize = range[1].p_bufsize = 128;
    range[0].p_scale = range[1].p_scale = -1;
    range[2].p_high = 0;
    profil(range, -1, 0, 0);
    pthread_create(&thread, 0, spin, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    pthread_join(thread, 0);
    range[0].p_high = 0;
    profil(range, -1, 0, 0);
    h = sum(space, 64);
    c = sum(space + 64, 64);
    printf("hot %lu cold %lu\n", h, c);
    return !(h > 10 && h > 3 * c);
}
