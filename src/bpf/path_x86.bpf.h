// SPDX-License-Identifier: MIT OR GPL-2.0
/* Engine "bpf": registers, calls and signals of x86-64; part of path.bpf.h. */
/* SMALLEST_FRAME: of the innermost function: its return address. */
enum { CODE_SEGMENT_32 = 0x23, SMALLEST_FRAME = 8 };

static __always_inline int is_of_user(struct bpf_perf_event_data* event) { return (event->regs.cs & 3) != 0; }

/* False without user registers: a thread of the kernel, one that works for io_uring, or one of 32 bits. */
static __always_inline int take_registers(struct bpf_perf_event_data* event, struct task_struct* task,
                                          struct pctally_path* draft, struct walk* walk) {
  struct pt_regs user;
  if (is_of_user(event)) {
    user.rbx = event->regs.rbx;
    user.rbp = event->regs.rbp;
    user.rsp = event->regs.rsp;
    user.rip = event->regs.rip;
    user.r10 = event->regs.r10;
    user.rdi = event->regs.rdi;
    user.cs = event->regs.cs;
  } else {
    if (task->flags & KERNEL_THREAD) return 0;
    if (bpf_probe_read_kernel(&user, sizeof user, (void*)bpf_task_pt_regs(task)) != 0) return 0;
  }
  if (user.cs == CODE_SEGMENT_32 || (user.cs & 3) == 0 || user.rsp == 0) return 0;
  draft->registers[0] = walk->base = user.rbx;
  draft->registers[1] = 0;
  draft->registers[2] = walk->frame = user.rbp;
  draft->registers[3] = walk->stack = user.rsp;
  draft->registers[4] = walk->pc = user.rip;
  draft->registers[5] = walk->scratch = user.r10;
  walk->link = user.rdi;
  walk->exact = 1;
  return 1;
}

/* Whether the code at a return address is add $8,%rsp; ret. It is handed over, for the recorder may not read
 * it. */
static __always_inline int is_trampoline(struct walk* walk) {
  __u64 pc = walk->pc, code, high;
  __u32 shift = (pc & 7) * 8;
  if (!copy_chunk(walk, pc & ~7ull, 2)) return 0;
  code = last_word(walk, 2);
  high = last_word(walk, 1);
  if (shift != 0) code = code >> shift | high << (64 - shift);
  return (code & 0xffffffffff) == 0xc308c48348;
}

/* Whether it is in an entry of a PLT: is_stub() of tick/unwind/plt_stub.h. */
static __always_inline int is_in_stub(__u64 pc) {
  __u64 code[2], place = pc & 15;
  __u32 mark = 0xfa1e0ff3;
  if (bpf_probe_read_user(code, sizeof code, (void*)(pc - place)) != 0) return 0;
  if ((code[0] & 0x00ff00000000ffff) == 0x00680000000025ff)
    return place == 0 && (code[1] >> 24 & 0xff) == 0xe9;
  if ((__u32)code[0] != mark) return 0;
  if ((code[0] >> 32 & 0xffff) == 0xbb41 && (code[1] >> 16 & 0xffff) == 0x25ff)
    return place == 0 || place == 4 || place == 10;
  if ((code[0] >> 32 & 0xffff) != 0x25ff || (place != 0 && place != 4)) return 0;
  return code[1] >> 16 == 0x0000441f0f66 || ((code[1] >> 16 & 0xff) == 0xcc && code[1] >> 56 == 0xcc);
}

/* Code without rules: a stub of a PLT, the trampoline of python -X perf, or frame pointers. */
CHECKED_ONCE int step_without_rule(struct walk* walk) {
  if (walk == 0) return 0;
  __u64 frame = walk->frame, stack = walk->stack + 16;
  if (walk->exact && is_in_stub(walk->pc)) {
    if (!copy_word(walk, walk->stack, &walk->pc)) return 0;
    walk->stack += 8;
    walk->exact = 0;
    return 0;
  }
  if (!walk->exact && is_trampoline(walk)) {
    if (copy_word(walk, stack - 8, &walk->pc)) walk->stack = stack;
    return 0;
  }
  walk->state = AT_END;
  if (frame < walk->stack || frame - walk->stack >= 1 << 20) return 0;
  if (!copy_chunk(walk, frame, 2)) return 0;
  walk->frame = last_word(walk, 2);
  walk->pc = last_word(walk, 1);
  walk->stack = frame + 16;
  walk->exact = 0;
  return 0;
}

static __always_inline void leave_signal_frame(struct walk* walk) {
  if (!copy_chunk(walk, walk->stack + 40 + 8 * 10, 7)) return; /* rbp, rbx, rdx, rax, rcx, rsp, rip */
  walk->frame = last_word(walk, 7);
  walk->base = last_word(walk, 6);
  walk->stack = last_word(walk, 2);
  walk->pc = last_word(walk, 1);
  walk->exact = 1;
}

static __always_inline void step_to(struct walk* walk, __u64 cfa) {
  struct slot frame = slot_of(walk, cfa, walk->kinds >> 8 & 0xff, 0);
  struct slot base = slot_of(walk, cfa, walk->kinds >> 16 & 0xff, 16);
  __u32 frame_words = words_down_to(frame, cfa), base_words = words_down_to(base, cfa), count = 1;
  __u64 caller_frame = walk->frame, caller_base = walk->base;
  if (frame_words > count) count = frame_words;
  if (base_words > count) count = base_words;
  if (!copy_chunk(walk, cfa - 8 * count, count)) return;
  __u32 used = walk->used;
  __u64 pc = last_word(walk, 1);
  if (!restore(walk, frame, frame_words, used, &caller_frame)) return;
  if (!restore(walk, base, base_words, used, &caller_base)) return;
  walk->pc = pc;
  walk->stack = cfa;
  walk->frame = caller_frame;
  walk->base = caller_base;
  walk->exact = 0;
}
