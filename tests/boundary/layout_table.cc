// Prints offset and size of every field of the profile file, as docs/profile-file.md tables them.
#include <stdio.h>

#include "histfile/layout.h"
#include "histfile/names_layout.h"
#include "tick/path_slots.h"

// NOLINTBEGIN(bugprone-macro-parentheses): a type has none
#define FIELD(Struct, field)                                                                              \
  printf("| %zu | %zu | `%s` |\n", offsetof(Struct, field), sizeof(static_cast<Struct*>(nullptr)->field), \
         #field)
// NOLINTEND(bugprone-macro-parentheses)

using namespace pctally;

static void print_header() {
  FIELD(FileHeader, magic);
  FIELD(FileHeader, version);
  FIELD(FileHeader, header_bytes);
  FIELD(FileHeader, byte_order);
  FIELD(FileHeader, unit_bytes);
  FIELD(FileHeader, pointer_bytes);
  FIELD(FileHeader, state);
  FIELD(FileHeader, pool.used);
  FIELD(FileHeader, pool.limit);
  FIELD(FileHeader, objects);
  FIELD(FileHeader, processes);
  FIELD(FileHeader, process_count);
  FIELD(FileHeader, command);
  FIELD(FileHeader, deferred);
  FIELD(FileHeader, exit_status);
  FIELD(FileHeader, engine);
  FIELD(FileHeader, period_asked_ns);
  FIELD(FileHeader, period_ns);
  FIELD(FileHeader, started_unix_ns);
  FIELD(FileHeader, started_ns);
  FIELD(FileHeader, ended_ns);
  FIELD(FileHeader, heartbeat_ns);
  FIELD(FileHeader, cpu_user_ns);
  FIELD(FileHeader, cpu_system_ns);
  FIELD(FileHeader, cpu_known);
  FIELD(FileHeader, kernel_observed);
  FIELD(FileHeader, throttled);
  FIELD(FileHeader, clock_tick_ns);
  FIELD(FileHeader, boot_id);
  FIELD(FileHeader, release);
  FIELD(FileHeader, machine);
  FIELD(FileHeader, ended);
  FIELD(FileHeader, snapshot);
  FIELD(FileHeader, machine_cpus);
  FIELD(FileHeader, event);
  FIELD(FileHeader, start_owed_us);
  FIELD(FileHeader, stolen_ns);
  FIELD(FileHeader, ledger);
  FIELD(FileHeader, recording_id);
  FIELD(FileHeader, paths);
  FIELD(FileHeader, names);
  FIELD(FileHeader, scopes);
  FIELD(FileHeader, runs);
  FIELD(FileHeader, starts_in_step);
}

static void print_records() {
  FIELD(ObjectRecord, next);
  FIELD(ObjectRecord, segments);
  FIELD(ObjectRecord, path);
  FIELD(ObjectRecord, kind);
  FIELD(ObjectRecord, identity);
  FIELD(ObjectRecord, device);
  FIELD(ObjectRecord, inode);
  FIELD(ObjectRecord, owner);
  FIELD(ObjectRecord, build_id_bytes);
  FIELD(ObjectRecord, build_id);
  FIELD(ObjectRecord, file_bytes);
  FIELD(ObjectRecord, time_unix_ns);
  FIELD(ObjectRecord, boot_id);
  FIELD(SegmentRecord, next);
  FIELD(SegmentRecord, directory);
  FIELD(SegmentRecord, start);
  FIELD(SegmentRecord, bytes);
  FIELD(ProcessRecord, next);
  FIELD(ProcessRecord, pid);
  FIELD(ProcessRecord, parent);
  FIELD(ProcessRecord, note);
  FIELD(ProcessRecord, flags);
  FIELD(ProcessRecord, signal);
  FIELD(ProcessRecord, ticks);
  FIELD(ProcessRecord, cpu_ns);
  FIELD(ProcessRecord, started_ns);
  FIELD(ProcessRecord, comm);
  FIELD(ProcessRecord, engine);
  FIELD(ProcessRecord, entered_cpu_ns);
  FIELD(ProcessRecord, start_ticks);
  FIELD(ProcessRecord, blocked_ns);
  FIELD(ProcessRecord, small_stack_ns);
  FIELD(ProcessRecord, timerless_ns);
  FIELD(ProcessRecord, unseen_start_ns);
}

static void print_path_records() {
  FIELD(ScopeRecord, next);
  FIELD(ScopeRecord, kind);
  FIELD(ScopeRecord, name);
  FIELD(ScopeRecord, build_id_bytes);
  FIELD(ScopeRecord, build_id);
  FIELD(ScopeRecord, device);
  FIELD(ScopeRecord, inode);
  FIELD(PathRecord, context);
  FIELD(PathRecord, plane);
  FIELD(PathRecord, no_room);
  FIELD(PathRecord, prunes);
  FIELD(PathRecord, pruned);
  FIELD(PathRecord, pruning);
  FIELD(PathRecord, stack_bytes);
  FIELD(PathRecord, slots);
  FIELD(PathRecord, one_frame);
  FIELD(PathRecord, first_come);
  FIELD(PathRecord, pruned_to);
  FIELD(PathTreeHead, directory);
  FIELD(PathTreeHead, slots_log2);
  FIELD(PathTreeHead, nodes);
  FIELD(PathTreeHead, most_nodes);
  FIELD(PathTreeHead, spare);
  FIELD(PathTreeHead, more);
  FIELD(PathDirectory, directory);
  FIELD(PathDirectory, slots_log2);
  FIELD(PathDirectory, more);
  FIELD(PathNode, next);
  FIELD(PathNode, parent);
  FIELD(PathNode, place);
  FIELD(PathNode, self);
  FIELD(PathNode, folded);
  FIELD(PathSlotsHead, states);
  FIELD(PathSlotsHead, slots);
  FIELD(PathSlotsHead, count);
  FIELD(PathSlotsHead, next);
  FIELD(PathSlotsHead, no_slot);
  FIELD(PathSlotsHead, one_frame);
  FIELD(PathSlot, ticks);
  FIELD(PathSlot, process);
  FIELD(PathSlot, program);
  FIELD(PathSlot, end);
  FIELD(PathSlot, by_table);
  FIELD(PathSlot, frames);
  FIELD(PathSlot, next);
  FIELD(PathSlot, frame);
}

static void print_run_records() {
  FIELD(RunRecord, next);
  FIELD(RunRecord, measured_ticks);
  FIELD(RunRecord, header);
}

static void print_tick_records() {
  FIELD(DeferredRing, claimed);
  FIELD(DeferredRing, drained);
  FIELD(DeferredRing, slots);
  FIELD(DeferredTick, pc);
  FIELD(DeferredTick, weight);
  FIELD(DeferredTick, process);
  FIELD(DeferredTick, ready);
  FIELD(Ledger, counted);
  FIELD(Ledger, outside);
  FIELD(Ledger, full);
  FIELD(Ledger, lost);
  FIELD(Ledger, deferred);
  FIELD(Ledger, resolved);
  FIELD(Ledger, samples);
  FIELD(Ledger, weight_squares);
}

static void print_names_records() {
  FIELD(NamesHead, magic);
  FIELD(NamesHead, version);
  FIELD(NamesHead, bytes);
  FIELD(NamesHead, text);
  FIELD(NamesHead, objects);
  FIELD(NamesHead, ranges);
  FIELD(NamesHead, places);
  FIELD(NamesHead, frames);
  FIELD(NamesHead, sources);
  FIELD(NamesObject, kind);
  FIELD(NamesObject, owner);
  FIELD(NamesObject, path);
  FIELD(NamesObject, build_id_bytes);
  FIELD(NamesObject, machine);
  FIELD(NamesObject, build_id);
  FIELD(NamesObject, device);
  FIELD(NamesObject, inode);
  FIELD(NamesObject, file_bytes);
  FIELD(NamesObject, time_unix_ns);
  FIELD(NamesObject, changed_unix_ns);
  FIELD(NamesObject, boot_id);
  FIELD(NamesRange, object);
  FIELD(NamesRange, first_hit);
  FIELD(NamesRange, last_hit);
  FIELD(NamesRange, start);
  FIELD(NamesRange, end);
  FIELD(NamesRange, address);
  FIELD(NamesRange, name);
  FIELD(NamesRange, linkage);
  FIELD(NamesRange, code);
  FIELD(NamesPlace, object);
  FIELD(NamesPlace, bytes);
  FIELD(NamesPlace, position);
  FIELD(NamesPlace, first_frame);
  FIELD(NamesPlace, frames);
  FIELD(NamesFrame, function);
  FIELD(NamesFrame, linkage);
  FIELD(NamesFrame, file);
  FIELD(NamesFrame, line);
  FIELD(NamesFrame, start_line);
  FIELD(NamesSource, path);
  FIELD(NamesSource, text);
  FIELD(NamesSource, changed_unix_ns);
}

int main() {
  print_tick_records();
  print_header();
  print_records();
  print_path_records();
  print_run_records();
  print_names_records();
}
