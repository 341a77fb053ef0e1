#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/profil.h>
#include <time.h>
#include <unistd.h>

static unsigned short buf[2048];

__attribute__((aligned(256))) void hot(n) long n; { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(n) long n; { volatile long i; for (i = 0; i < n; i++) ; }

static unsigned long ticks(text) char *text;
{
    unsigned long sum = 0;
    int i;
    for (i = 0; i < 60; i++)
        sum += buf[(text - ((char *)hot - 1024)) / 2 + i];
    return sum;
}

int main()
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    profil(buf, sizeof buf, (size_t)hot - 1024, 0x10000);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    profil((unsigned short *)0, 0, 0, 0);
    printf("hot %lu cold %lu max %ld\n", ticks((char *)hot), ticks((char *)cold), sysconf(_SC_PROFIL_MAX));
    return !(ticks((char *)hot) > 10 && ticks((char *)hot) > 3 * ticks((char *)cold) && sysconf(_SC_PROFIL_MAX) > 1);
}
