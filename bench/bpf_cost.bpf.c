// SPDX-License-Identifier: MIT OR GPL-2.0
/* What the engine's program is measured against: one that does nothing, and one that keys by object and file
 * offset in the kernel (docs/decisions/006-bpf-keys.md). */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "bpf/tick_tables.h"
#include "tick/bin_index.h"

struct super_block {
  __u32 s_dev;
} __attribute__((preserve_access_index));
struct inode {
  struct super_block* i_sb;
  unsigned long i_ino;
} __attribute__((preserve_access_index));
struct file {
  struct inode* f_inode;
} __attribute__((preserve_access_index));
struct vm_area_struct {
  unsigned long vm_start;
  unsigned long vm_end;
  unsigned long vm_pgoff;
  struct file* vm_file;
} __attribute__((preserve_access_index));
struct task_struct {
  int pid;
} __attribute__((preserve_access_index));

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 2);
  __type(key, __u32);
  __type(value, struct pctally_table);
} tables SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} followed SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} cgroups SEC(".maps");

/* found, no file behind the pc, mapping lock busy, no mapping */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 4);
  __type(key, __u32);
  __type(value, __u64);
} outcomes SEC(".maps");

const volatile struct pctally_tick_settings settings = {
    PCTALLY_FILTER_ALL, 1, PCTALLY_TABLE_SLOTS - 1, 0, 1, ~0ull};

struct place {
  __u64 pc;
  __u64 offset;
  __u32 inode;
  __u32 device;
};

static long locate(struct task_struct* task, struct vm_area_struct* vma, struct place* place) {
  struct file* file = vma->vm_file;
  (void)task;
  if (file == 0) return 0;
  struct pctally_bin_rule rule = {
      .origin = vma->vm_start, .cells = vma->vm_end - vma->vm_start, .family = PCTALLY_BIN_SHIFT};
  __u64 index = 0;
  if (!pctally_bin_index(&rule, place->pc, &index)) return 0;
  place->offset = (vma->vm_pgoff << 12) + index;
  place->inode = file->f_inode->i_ino;
  place->device = file->f_inode->i_sb->s_dev;
  return 0;
}

static __always_inline void note(__u32 outcome) {
  __u64* count = bpf_map_lookup_elem(&outcomes, &outcome);
  if (count) ++*count;
}

static __always_inline int passes(__u32 tgid) {
  __u32 word = tgid / 64;
  if (settings.filter == PCTALLY_FILTER_ALL) return tgid != 0;
  __u64* bits = bpf_map_lookup_elem(&followed, &word);
  return bits != 0 && (*bits >> (tgid % 64) & 1);
}

SEC("perf_event")
int nothing(void* event) {
  (void)event;
  return 0;
}

SEC("perf_event")
int by_file(struct bpf_perf_event_data* event) {
  __u32 tgid = bpf_get_current_pid_tgid() >> 32;
  if (!passes(tgid)) return 0;
  struct place place = {.pc = PT_REGS_IP(&event->regs), .offset = PT_REGS_IP(&event->regs), .inode = tgid};
  if ((__s64)place.pc > 0) {
    long error = bpf_find_vma(bpf_get_current_task_btf(), place.pc, locate, &place, 0);
    note(error == -16 ? 2 : error != 0 ? 3 : place.device == 0);
  }
  __u32 cpu = bpf_get_smp_processor_id();
  struct pctally_table* table = bpf_map_lookup_elem(&tables, &cpu);
  if (table == 0) return 0;
  __u32 hash = ((place.offset + ((__u64)place.inode << 32) + place.device) * 0x9e3779b97f4a7c15u) >> 40;
  ++table->passed;
  for (__u32 i = 0; i < PCTALLY_TABLE_PROBES; ++i) {
    __u32 index = (hash + i) & (PCTALLY_TABLE_SLOTS - 1);
    struct pctally_slot* slot = &table->slots[index];
    if (slot->ticks == 0) {
      slot->pc = place.offset;
      slot->tgid = place.inode;
      slot->exec_id = place.device;
      slot->ticks = 1;
      return 0;
    }
    if (slot->pc == place.offset && slot->tgid == place.inode && slot->exec_id == place.device) {
      ++slot->ticks;
      return 0;
    }
  }
  ++table->unowned;
  return 0;
}

char license_text[] SEC("license") = "Dual MIT/GPL";
