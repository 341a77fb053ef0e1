// libFuzzer target: any bytes as a jitdump. What must hold: it ends, and each name and line is one that the
// file can hold.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "base/unique_fd.h"
#include "object/jit_dump.h"

using namespace pctally;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const UniqueFd file(memfd_create("dump", 0));
  if (!file.valid() || write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  const auto dump = JitDump::parse(file.get(), "dump");
  if (!dump) return 0;
  const std::vector<uint64_t> addresses{0, 0x1000, 0x1010, 0x3000, UINT64_MAX};
  for (const NamedRange& range : dump->name(addresses)) {
    if (dump->code(range.start, range.end).bytes.size() > size) abort();
    if (range.start > range.end || (range.function[0] != '[' && range.function.size() > size)) abort();
  }
  for (const std::vector<Frame>& frames : dump->frames(addresses))
    for (const Frame& frame : frames)
      if (frame.line == 0 || frame.line > INT32_MAX || frame.file.empty() || frame.file.size() > size)
        abort();
  return 0;
}
