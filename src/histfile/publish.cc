#include "histfile/publish.h"

#include <sched.h>

namespace pctally {
namespace {

void wait_until_empty(const PublishedTables* tables, uint32_t slot) noexcept {
  if (slot >= kTableSlots) return;
  while (__atomic_load_n(&tables->in_flight[slot], __ATOMIC_SEQ_CST) != 0) sched_yield();
}

}  // namespace

void publish(PublishedTables* tables, const RegionTable& table) noexcept {
  uint32_t old = __atomic_load_n(&tables->current, __ATOMIC_SEQ_CST);
  uint32_t spare = old == 0 ? 1 : 0;
  wait_until_empty(tables, spare);
  tables->slots[spare] = table;
  // An exchange where a store would do: qemu-user lets aarch64's stores pass the loads behind them.
  (void)__atomic_exchange_n(&tables->current, spare, __ATOMIC_SEQ_CST);
  wait_until_empty(tables, old);
}

void withdraw(PublishedTables* tables) noexcept {
  uint32_t old = __atomic_exchange_n(&tables->current, kNoTable, __ATOMIC_SEQ_CST);
  wait_until_empty(tables, old);
}

void forget_in_flight(PublishedTables* tables) noexcept {
  for (uint32_t& count : tables->in_flight) __atomic_store_n(&count, 0, __ATOMIC_SEQ_CST);
}

}  // namespace pctally
