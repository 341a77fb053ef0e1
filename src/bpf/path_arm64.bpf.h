// SPDX-License-Identifier: MIT OR GPL-2.0
/* Engine "bpf": registers, calls and signals of aarch64; part of path.bpf.h. A call leaves the return address
 * in x30, which the callee saves if it calls in its turn. */

/* What leaves a signal handler: mov x8, #139 (rt_sigreturn); svc #0. */
#define MOVE_NUMBER 0xd2801168u
#define CALL_KERNEL 0xd4000001u

/* SMALLEST_FRAME: of the innermost function: one that calls none may need no stack. */
enum { SMALLEST_FRAME = 0, MODE_BITS = 0x1f, USER_MODE_64 = 0, FRAME_POINTER = 29, LINK_REGISTER = 30 };

/* Without what pointer authentication has signed it with. */
static __always_inline __u64 return_address(__u64 link) { return link & settings.address_bits; }

static __always_inline int is_of_user(struct bpf_perf_event_data* event) {
  return (event->regs.pstate & 0xf) == 0;
}

/* The end of struct user_pt_regs: all of it is more than a BPF stack holds. */
struct last_registers {
  __u64 frame, link, stack, pc, state;
};

/* False without user registers: a thread of the kernel, one that works for io_uring, or one of 32 bits. */
static __always_inline int take_registers(struct bpf_perf_event_data* event, struct task_struct* task,
                                          struct pctally_path* draft, struct walk* walk) {
  struct last_registers user;
  __u64 first;
  if (is_of_user(event)) {
    first = event->regs.regs[0];
    user.frame = event->regs.regs[FRAME_POINTER];
    user.link = event->regs.regs[LINK_REGISTER];
    user.stack = event->regs.sp;
    user.pc = event->regs.pc;
    user.state = event->regs.pstate;
  } else {
    struct user_pt_regs* all = (struct user_pt_regs*)bpf_task_pt_regs(task);
    if (task->flags & KERNEL_THREAD) return 0;
    if (bpf_probe_read_kernel(&user, sizeof user, &all->regs[FRAME_POINTER]) != 0) return 0;
    if (bpf_probe_read_kernel(&first, sizeof first, &all->regs[0]) != 0) return 0;
  }
  if ((user.state & MODE_BITS) != USER_MODE_64) return 0;
  draft->registers[0] = walk->base = user.link;
  draft->registers[1] = 0;
  draft->registers[2] = walk->frame = user.frame;
  draft->registers[3] = walk->stack = user.stack;
  draft->registers[4] = walk->pc = user.pc;
  draft->registers[5] = first;
  walk->exact = 1;
  return 1;
}

/* At the stack pointer lie a siginfo_t and a ucontext_t. The return addresses are the last words of chunks:
 * equal paths are known by these (path/path_memo.h). */
static __always_inline void leave_signal_frame(struct walk* walk) {
  __u64 registers = walk->stack + 128 + 184;
  if (!copy_chunk(walk, registers + 8 * FRAME_POINTER, 2)) return;
  walk->frame = last_word(walk, 2);
  walk->base = last_word(walk, 1);
  if (!copy_chunk(walk, registers + 8 * (LINK_REGISTER + 1), 2)) return;
  walk->stack = last_word(walk, 2);
  walk->pc = last_word(walk, 1);
  walk->exact = 1;
}

/* Whether the code at a return address is the kernel's, to which signal handlers return: mov x8,#139; svc #0.
 * It is handed over, for the recorder may not read it. */
static __always_inline int is_trampoline(struct walk* walk) {
  __u64 code;
  if (!copy_chunk(walk, walk->pc & ~7ull, 2)) return 0;
  code = last_word(walk, 2);
  if (walk->pc & 4) code = code >> 32 | last_word(walk, 1) << 32;
  return code == ((__u64)CALL_KERNEL << 32 | MOVE_NUMBER);
}

/* Whether a tick fell into that code, or into its system call, behind which the thread then stands. */
static __always_inline int is_in_trampoline(struct walk* walk) {
  __u32 code[4]; /* from two instructions before */
  if (bpf_probe_read_user(code, sizeof code, (void*)(walk->pc - 8)) != 0) return 0;
  for (int i = 0; i < 3; ++i)
    if (code[i] == MOVE_NUMBER && code[i + 1] == CALL_KERNEL && (i != 0 || walk->in_kernel)) return 1;
  return 0;
}

/* Code without rules: where handlers return to, or code that makes no frame: an entry of a PLT, or a function
 * of the vdso. The recorder knows what these look like, and cuts the rest; also behind the push of a PLT's
 * first entry, for its words are not copied. */
CHECKED_ONCE int step_without_rule(struct walk* walk) {
  if (walk == 0) return 0;
  if (walk->exact && is_in_trampoline(walk)) {
    leave_signal_frame(walk);
  } else if (walk->exact) {
    walk->pc = return_address(walk->base);
    walk->exact = 0;
    walk->state = GOING_ON;
  } else if (is_trampoline(walk)) {
    leave_signal_frame(walk);
  } else {
    walk->state = AT_END;
  }
  return 0;
}

/* The frame pointer and x30 are mostly saved side by side. */
static __always_inline void step_to(struct walk* walk, __u64 cfa) {
  __u32 kind = walk->kinds >> 16 & 0xff;
  short base_words = walk->saved >> 16;
  struct slot frame = slot_of(walk, cfa, walk->kinds >> 8 & 0xff, 0), base = slot_of(walk, cfa, kind, 16);
  __u64 caller_frame = walk->frame, caller_base = walk->base;
  int from_plt = kind == PCTALLY_FRAME_SAVED && base_words >= 0; /* see unwind_step() */
  if (base.kind == PCTALLY_FRAME_UNDEFINED || (kind == PCTALLY_FRAME_SAME && !walk->exact)) return;
  if (frame.kind != PCTALLY_FRAME_SAME && frame.kind != PCTALLY_FRAME_UNDEFINED &&
      base.kind != PCTALLY_FRAME_SAME && base.address == frame.address + 8) {
    if (!copy_chunk(walk, frame.address, 2)) return;
    caller_frame = last_word(walk, 2);
    caller_base = last_word(walk, 1);
  } else if (!restore(walk, frame, 0, 0, &caller_frame) || !restore(walk, base, 0, 0, &caller_base)) {
    return;
  }
  walk->frame = caller_frame;
  walk->base = caller_base;
  walk->pc = return_address(caller_base);
  walk->stack = from_plt ? cfa + 8 * (__s64)base_words + 8 : cfa;
  walk->exact = 0;
  walk->state = GOING_ON;
}
