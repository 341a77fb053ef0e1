int record_itself(void);
int dlopen(void);

/* As a program may define it for something else. */
int dlopen(void) { __builtin_trap(); }

int main(void) { return record_itself(); }
