/* A shared library that calls others through its procedure linkage table. */
int puts(const char *text);
int elsewhere(const char *text);
int exported(const char *text);
int calls_out(const char *text) { return puts(text) + elsewhere(text) + exported(text); }
__attribute__((noinline)) int exported(const char *text) { return elsewhere(text) + 1; }
