/* Functions of known_paths.c in assembly, of x86-64 and aarch64. */
#pragma once
#include <pthread.h>

/* Ends with a jump to `call`: it is not on the stack of it. */
void tail_caller(void (*call)(void));
/* Its unwind rule says that the caller's frame is 28 KiB above, where there is none. */
void with_wrong_rule(void (*call)(void));
void without_table(void (*call)(void));
void with_frame_pointer(void (*call)(void));
/* Two symbols in one entry of the unwind table. */
void first_symbol(long turns);
void second_symbol(long turns);

#if defined(__x86_64__)

#define WITH_LARGE_VECTORS __attribute__((target("avx2")))
#define HAS_GOROUTINES 1

__asm__(
    ".text\n.globl tail_caller\n.type tail_caller,@function\ntail_caller:\n.cfi_startproc\n"
    " jmp *%rdi\n.cfi_endproc\n.size tail_caller,.-tail_caller\n");
__asm__(
    ".text\n.type with_wrong_rule,@function\nwith_wrong_rule:\n.cfi_startproc\n sub $24,%rsp\n"
    " .cfi_def_cfa_offset 0x7000\n call *%rdi\n add $24,%rsp\n .cfi_def_cfa_offset 8\n ret\n.cfi_endproc\n"
    ".size with_wrong_rule,.-with_wrong_rule\n");
__asm__(
    ".text\n.type without_table,@function\nwithout_table: sub $24,%rsp\n call *%rdi\n add $24,%rsp\n ret\n"
    ".size without_table,.-without_table\n .skip 64,0x90\n");
__asm__(
    ".text\n.type with_frame_pointer,@function\nwith_frame_pointer: push %rbp\n mov %rsp,%rbp\n sub "
    "$16,%rsp\n"
    " call *%rdi\n leave\n ret\n.size with_frame_pointer,.-with_frame_pointer\n .skip 64,0x90\n");
__asm__(
    ".text\n.globl first_symbol\n.type first_symbol,@function\nfirst_symbol:\n.cfi_startproc\n"
    " dec %rdi\n jnz first_symbol\n ret\n.size first_symbol,.-first_symbol\n"
    ".globl second_symbol\n.type second_symbol,@function\nsecond_symbol:\n"
    " dec %rdi\n jnz second_symbol\n ret\n.cfi_endproc\n.size second_symbol,.-second_symbol\n");

/* As Go does it: without tables, with frame pointers, on a stack of its own, which starts with an address
 * behind a nop that nothing calls from. There it returns to: the rest is for going on with this test. */
void on_goroutine(void (*call)(void), void* top);
__asm__(
    ".text\n.type on_goroutine,@function\non_goroutine: push %rbp\n push %rbx\n mov %rsp,%rbx\n"
    " lea goroutine_end+1(%rip),%rax\n lea -8(%rsi),%rsp\n mov %rax,(%rsp)\n xor %ebp,%ebp\n"
    " jmp goroutine\n.size on_goroutine,.-on_goroutine\n .skip 64,0xcc\n"
    ".type goroutine,@function\ngoroutine: push %rbp\n mov %rsp,%rbp\n call *%rdi\n pop %rbp\n ret\n"
    ".size goroutine,.-goroutine\n .skip 64,0xcc\n"
    ".type goroutine_end,@function\ngoroutine_end: nop\n call after_goroutine\n nop\n"
    ".size goroutine_end,.-goroutine_end\n .skip 64,0xcc\n"
    ".type after_goroutine,@function\nafter_goroutine: mov %rbx,%rsp\n pop %rbx\n pop %rbp\n ret\n"
    ".size after_goroutine,.-after_goroutine\n .skip 64,0xcc\n");

/* A hundred stubs of the PLT as mold writes them. No unwind table describes them. Each jumps to the next. */
void bare_stub(void);
__asm__(
    ".text\n.p2align 4\n.type bare_stub,@function\nbare_stub:\n.set stubs,0\n.rept 100\n"
    " .byte 0xf3,0x0f,0x1e,0xfa\n mov $7,%r11d\n jmp *bare_targets+stubs(%rip)\n .set stubs,stubs+8\n.endr\n"
    ".size bare_stub,.-bare_stub\n .skip 64,0xcc\n"
    ".type bare_end,@function\nbare_end:\n.cfi_startproc\n ret\n.cfi_endproc\n.size bare_end,.-bare_end\n"
    ".section .data.rel.ro,\"aw\"\n.p2align 3\nbare_targets:\n.set stubs,16\n.rept 99\n .quad "
    "bare_stub+stubs\n"
    " .set stubs,stubs+16\n.endr\n .quad bare_end\n.text\n");

/* Macros: an inlined function would be on the path. */
#define TKILL_HERE(thread, number)                              \
  ({                                                            \
    long result = 200;                                          \
    __asm__ volatile("syscall"                                  \
                     : "+a"(result)                             \
                     : "D"((long)(thread)), "S"((long)(number)) \
                     : "rcx", "r11", "memory");                 \
    result;                                                     \
  })

/* At times by a pointer that is in no cache: some processors take an interrupt once the instruction that
 * waits is done, which is before the first of the stub. In none of theirs do ticks come else. */
int (*lock_stub)(pthread_mutex_t*);
#define FIND_LOCK_STUB() __asm__("lea pthread_mutex_lock@PLT(%%rip), %0" : "=r"(lock_stub))
#define LOCK_BY_STUB(mutex, turn)                             \
  do {                                                        \
    if ((turn) % 64 == 0) __builtin_ia32_clflush(&lock_stub); \
    lock_stub(mutex);                                         \
  } while (0)

#else

#define WITH_LARGE_VECTORS
#define HAS_GOROUTINES 0

__asm__(
    ".text\n.globl tail_caller\n.type tail_caller,@function\ntail_caller:\n.cfi_startproc\n"
    " br x0\n.cfi_endproc\n.size tail_caller,.-tail_caller\n");
__asm__(
    ".text\n.type with_wrong_rule,@function\nwith_wrong_rule:\n.cfi_startproc\n stp x29,x30,[sp,#-16]!\n"
    " .cfi_def_cfa_offset 0x7000\n .cfi_offset 30,-8\n blr x0\n ldp x29,x30,[sp],#16\n"
    " .cfi_def_cfa_offset 0\n .cfi_restore 30\n ret\n.cfi_endproc\n"
    ".size with_wrong_rule,.-with_wrong_rule\n");
__asm__(
    ".text\n.type without_table,@function\nwithout_table: stp x29,x30,[sp,#-16]!\n blr x0\n"
    " ldp x29,x30,[sp],#16\n ret\n.size without_table,.-without_table\n .skip 64\n");
__asm__(
    ".text\n.type with_frame_pointer,@function\nwith_frame_pointer: stp x29,x30,[sp,#-16]!\n mov x29,sp\n"
    " blr x0\n ldp x29,x30,[sp],#16\n ret\n.size with_frame_pointer,.-with_frame_pointer\n .skip 64\n");
__asm__(
    ".text\n.globl first_symbol\n.type first_symbol,@function\nfirst_symbol:\n.cfi_startproc\n"
    " sub x0,x0,#1\n cbnz x0,first_symbol\n ret\n.size first_symbol,.-first_symbol\n"
    ".globl second_symbol\n.type second_symbol,@function\nsecond_symbol:\n"
    " sub x0,x0,#1\n cbnz x0,second_symbol\n ret\n.cfi_endproc\n.size second_symbol,.-second_symbol\n");

#define TKILL_HERE(thread, number)                                                 \
  ({                                                                               \
    register long result __asm__("x0") = (thread);                                 \
    register long second __asm__("x1") = (number);                                 \
    register long call __asm__("x8") = 130;                                        \
    __asm__ volatile("svc #0" : "+r"(result) : "r"(second), "r"(call) : "memory"); \
    result;                                                                        \
  })
#define FIND_LOCK_STUB() (void)0
#define LOCK_BY_STUB(mutex, turn) pthread_mutex_lock(mutex)

#endif
