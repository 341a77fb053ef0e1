// libFuzzer target: any bytes as the table that Go's runtime keeps of its functions. What must hold: it ends,
// names lie in the bytes, and what is said of a function lies in it.
#include <cstdlib>

#include "base/file/go_table.h"

using namespace pctally;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(data, size);
  (void)GoTable::in_section(bytes, 0x402000, bytes);
  const auto table = GoTable::parse(bytes, 0x401000);
  if (!table) return 0;
  for (uint64_t i = 0; i < table->functions(); ++i) {
    if (table->name(i).size() > size || table->start(i) > table->end(i)) abort();
    const auto found = table->find(table->start(i));
    if (found && (*found < i || table->start(*found) != table->start(i))) abort();
    uint64_t at = table->start(i);
    table->visit_stack(i, [&](uint64_t from, uint64_t to, int32_t) {
      if (from != at || to < from || to > table->end(i)) abort();
      at = to;
    });
    (void)table->is_outermost(i);
    (void)table->writes_stack_pointer(i);
  }
  return 0;
}
