#include "tick/tick.h"

#include "tick/publication.h"

namespace pctally {
namespace {

uint64_t add_to_tree(const RegionTable& table, const Region& region, uint64_t index,
                     uint64_t weight) noexcept {
  uint64_t* cell = tree_cell(table.pool, region.directory, index + region.tree_bias);
  if (cell == nullptr) return 0;
  add_relaxed(cell, weight);  // 2^64 ticks do not happen
  return weight;
}

uint64_t add_to_buffer(const Region& region, uint64_t index, uint64_t weight, CellEvent* event) noexcept {
  if (region.kind == CellKind::kU16)
    return add_to_cell(static_cast<uint16_t*>(region.cells) + index, weight, region.when_full, event);
  if (region.kind == CellKind::kU32)
    return add_to_cell(static_cast<uint32_t*>(region.cells) + index, weight, region.when_full, event);
  return add_to_cell(static_cast<uint64_t*>(region.cells) + index, weight, region.when_full, event);
}

bool put_aside(const RegionTable& table, uint64_t pc, uint64_t weight) noexcept {
  if (table.deferred == nullptr) return false;
  return defer_tick(table.deferred, table.deferred_capacity, pc, weight, table.process,
                    &table.ledger->deferred);
}

TickOutcome book(Ledger* ledger, uint64_t taken, uint64_t weight) noexcept {
  if (taken != 0) add_relaxed(&ledger->counted, taken);
  if (taken == weight) return TickOutcome::kCounted;
  add_relaxed(&ledger->full, weight - taken);
  return TickOutcome::kFull;
}

uint32_t* fault_flag(const RegionTable& table, const Region& region) noexcept {
  if (table.faulted == nullptr) return nullptr;
  return table.faulted + (&region == table.overflow ? table.count : &region - table.regions);
}

void stop(const RegionTable& table) noexcept {
  if (table.stopped != nullptr) __atomic_store_n(table.stopped, 1, __ATOMIC_RELEASE);
}

bool any_left(const RegionTable& table) noexcept {
  const uint32_t flags = table.count + (table.overflow != nullptr ? 1 : 0);
  for (uint32_t i = 0; i < flags; ++i)
    if (__atomic_load_n(table.faulted + i, __ATOMIC_SEQ_CST) == 0) return true;
  return false;
}

/// The profile ends with its last buffer. If two threads set the last two flags, one of them sees both: hence
/// the order of the stores and loads.
void note_gone(const RegionTable& table, uint32_t* flag) noexcept {
  bool left = table.count > 1 || table.overflow != nullptr;
  if (flag != nullptr) {
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    left = any_left(table);
  }
  if (!left) stop(table);
}

/// The caller's buffers: they may have been unmapped or write-protected since the call.
TickOutcome count_in_buffer(const RegionTable& table, const Region& region, uint64_t index,
                            uint64_t weight) noexcept {
  CellEvent event;
  uint64_t taken = 0;
  uint32_t* faulted = fault_flag(table, region);
  const bool was_gone = faulted != nullptr && __atomic_load_n(faulted, __ATOMIC_RELAXED) != 0;
  if (!was_gone) taken = add_to_buffer(region, index, weight, &event);
  if (was_gone || event.fault) {
    if (!was_gone) note_gone(table, faulted);
    add_relaxed(&table.ledger->lost, weight);
    return TickOutcome::kFaulted;
  }
  if (event.stop) stop(table);
  return book(table.ledger, taken, weight);
}

TickOutcome count(const RegionTable& table, const Region& region, uint64_t index, uint64_t weight) noexcept {
  if (region.kind != CellKind::kTree) return count_in_buffer(table, region, index, weight);
  return book(table.ledger, add_to_tree(table, region, index, weight), weight);
}

bool is_stopped(const RegionTable& table) noexcept {
  return table.stopped != nullptr && __atomic_load_n(table.stopped, __ATOMIC_ACQUIRE) != 0;
}

TickOutcome place(const RegionTable& table, uint64_t pc, uint64_t weight) noexcept {
  if (table.process_ticks != nullptr) add_relaxed(table.process_ticks, weight);
  uint64_t index = 0;
  if (const Region* region = find_region(table, pc, &index)) return count(table, *region, index, weight);
  if (table.overflow != nullptr) return count(table, *table.overflow, 0, weight);
  if (!put_aside(table, pc, weight)) add_relaxed(&table.ledger->outside, weight);
  return TickOutcome::kOutside;
}

}  // namespace

const Region* find_region(const RegionTable& table, uint64_t pc, uint64_t* index) noexcept {
  uint32_t first = 0, count = table.count;
  while (count > 0) {  // first region whose low is above pc
    uint32_t half = count / 2;
    bool below = table.regions[first + half].low <= pc;
    first = below ? first + half + 1 : first;
    count = below ? count - half - 1 : half;
  }
  while (first-- > 0) {
    const Region& region = table.regions[first];
    if (pc <= region.last && pctally_bin_index(&region.rule, pc, index)) return &region;
    if (region.reach < pc) break;
  }
  return nullptr;
}

bool seal_regions(Region* regions, uint32_t count) noexcept {
  uint64_t reach = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0 && regions[i].low < regions[i - 1].low) return false;
    if (regions[i].last > reach) reach = regions[i].last;
    regions[i].reach = reach;
  }
  return true;
}

TickOutcome tick(const RegionTable& table, uint64_t pc, uint64_t weight) noexcept {
  if (is_stopped(table)) return TickOutcome::kStopped;
  book_delivery(table.ledger, weight);
  return place(table, pc, weight);
}

TickOutcome tick_times(const RegionTable& table, uint64_t pc, uint64_t times) noexcept {
  if (is_stopped(table)) return TickOutcome::kStopped;
  book_deliveries(table.ledger, times);
  return place(table, pc, times);
}

TickOutcome resolve(const RegionTable& table, uint64_t pc, uint64_t weight) noexcept {
  uint64_t index = 0;
  const Region* region = find_region(table, pc, &index);
  TickOutcome outcome = TickOutcome::kOutside;
  if (region != nullptr)
    outcome = count(table, *region, index, weight);
  else
    add_relaxed(&table.ledger->outside, weight);
  add_relaxed(&table.ledger->resolved, weight);
  return outcome;
}

uint32_t enter_table(PublishedTables* tables) noexcept {
  for (;;) {
    uint32_t slot = __atomic_load_n(&tables->current, __ATOMIC_SEQ_CST);
    if (slot >= kTableSlots) return kNoTable;
    __atomic_fetch_add(&tables->in_flight[slot], 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&tables->current, __ATOMIC_SEQ_CST) == slot) return slot;
    __atomic_fetch_sub(&tables->in_flight[slot], 1, __ATOMIC_SEQ_CST);
  }
}

void leave_table(PublishedTables* tables, uint32_t slot) noexcept {
  __atomic_fetch_sub(&tables->in_flight[slot], 1, __ATOMIC_SEQ_CST);
}

bool tick_published(PublishedTables* tables, uint64_t pc, uint64_t weight) noexcept {
  uint32_t slot = enter_table(tables);
  if (slot == kNoTable) return false;
  TickOutcome outcome = tick(tables->slots[slot], pc, weight);
  leave_table(tables, slot);
  return outcome != TickOutcome::kStopped;
}

bool count_published(PublishedTables* tables, uint64_t pc, uint64_t ticks) noexcept {
  const uint32_t slot = enter_table(tables);
  if (slot == kNoTable) return false;
  const RegionTable& table = tables->slots[slot];
  const bool runs = !is_stopped(table);
  if (runs) (void)place(table, pc, ticks);
  leave_table(tables, slot);
  return runs;
}

void lost_published(PublishedTables* tables, uint64_t weight) noexcept {
  uint32_t slot = enter_table(tables);
  if (slot == kNoTable) return;
  const RegionTable& table = tables->slots[slot];
  if (table.stopped == nullptr || __atomic_load_n(table.stopped, __ATOMIC_ACQUIRE) == 0) {
    if (table.process_ticks != nullptr) add_relaxed(table.process_ticks, weight);
    add_relaxed(&table.ledger->lost, weight);
  }
  leave_table(tables, slot);
}

}  // namespace pctally
