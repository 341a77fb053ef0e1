#include <mon.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __cplusplus
extern "C"
#endif
int etext();
__attribute__((aligned(256))) void hot(long n) { volatile long i; for (i = 0; i < n; i++) ; }
__attribute__((aligned(256))) void cold(long n) { volatile long i; for (i = 0; i < n; i++) ; }

int main(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    char *low = (char *)hot < (char *)cold ? (char *)hot : (char *)cold;
    size_t words = ((char *)etext - low) / 8 + 64, i;
    WORD *buffer = (WORD *)malloc(words * sizeof(WORD));
    unsigned long most = 0;
    monitor((int (*)())low, etext, buffer, words, 0);
    while (clock() < end) { long n = rand() % 100000; hot(19 * n); cold(n); }
    monitor((int (*)())0, (int (*)())0, (WORD *)0, 0, 0);
    for (i = sizeof(struct hdr) / sizeof(WORD); i < words; i++)
        if (buffer[i] > most) most = buffer[i];
    printf("hottest %lu\n", most);
    return !(most > 5);
}
