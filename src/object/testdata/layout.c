/* Text of every kind a map has to name. It is linked and never run. */
int data_symbol = 3;

__attribute__((noinline)) int documented(int x) { return x * data_symbol; }
int other_alias(int) __attribute__((alias("documented")));
int _documented(int) __attribute__((weak, alias("documented")));
static int loc(int) __attribute__((alias("documented"), used));

/* A function, 24 bytes nobody names, a bare label, a function: none of them with unwind information. */
__asm__(
    ".text\n"
    ".balign 16\n"
    ".globl before_gap\n"
    ".type before_gap, %function\n"
    "before_gap: .zero 8\n"
    ".size before_gap, 8\n"
    ".zero 24\n"
    ".globl bare_label\n"
    "bare_label: .zero 8\n"
    ".globl after_gap\n"
    ".type after_gap, %function\n"
    "after_gap: .zero 64\n"
    ".size after_gap, 64\n");

/* What a signal handler returns to. Its unwind entry starts a byte before it, as libc's does. */
__asm__(
    ".cfi_startproc\n"
    ".cfi_signal_frame\n"
    ".zero 1\n"
    ".globl trampoline\n"
    ".type trampoline, %function\n"
    "trampoline: .zero 8\n"
    ".size trampoline, 8\n"
    ".cfi_endproc\n");

/* A function within a function. */
__asm__(
    ".globl outer_function\n"
    ".type outer_function, %function\n"
    "outer_function: .zero 16\n"
    ".globl inner_function\n"
    ".type inner_function, %function\n"
    "inner_function: .zero 16\n"
    ".size inner_function, 16\n"
    ".zero 16\n"
    ".size outer_function, 48\n");

int main(void) { return documented(1) + other_alias(2) + _documented(3) + loc(4); }
