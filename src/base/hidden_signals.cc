#include "base/hidden_signals.h"

namespace pctally {
namespace {

constexpr unsigned kWordBits = 8 * sizeof(unsigned long), kWords = 64 / kWordBits;
unsigned long g_hidden[kWords] = {};  // words every machine changes atomically

}  // namespace

void hide_signal(int signal) noexcept {
  const auto place = static_cast<unsigned>(signal - 1);
  __atomic_fetch_or(&g_hidden[place / kWordBits], 1ul << place % kWordBits, __ATOMIC_ACQ_REL);
}

void reveal_signals() noexcept {
  for (unsigned long& word : g_hidden) __atomic_store_n(&word, 0, __ATOMIC_RELEASE);
}

unsigned long long hidden_signals() noexcept {
  unsigned long long all = 0;
  for (unsigned i = kWords; i-- > 0;)
    all = (kWords > 1 ? all << (kWordBits % 64) : 0) | __atomic_load_n(&g_hidden[i], __ATOMIC_RELAXED);
  return all;
}

}  // namespace pctally
