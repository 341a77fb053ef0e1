#include "tick/unwind/cfi.h"

#include "tick/unwind/cfi_interpreter.h"

namespace pctally {

bool find_cfi(const CfiSections& sections, uint64_t address, CfiFunction* found) noexcept {
  *found = {};
  Fde fde;
  if (!find_fde(sections, address, &fde)) return false;
  found->start = fde.start;
  found->end = fde.end;
  found->rule.cfa = CfaKind::kUnsupported;
  CfiRow row;
  CfiInterpreter interpreter(fde);
  if (interpreter.start(&row) && interpreter.advance_to(address))
    found->rule = rule_of(row, fde.cie.is_signal);
  return true;
}

bool find_loaded_sections(uint64_t header, uint64_t end, CfiSections* found) noexcept {
  constexpr uint64_t kFixedBytes = 8;
  const auto* bytes = reinterpret_cast<const unsigned char*>(header);
  if (header >= end || end - header < kFixedBytes || bytes[1] != pointer_encoding::kRelativeSigned4)
    return false;
  int32_t distance = 0;
  __builtin_memcpy(&distance, bytes + 4, sizeof distance);
  const uint64_t frames = header + 4 + static_cast<uint64_t>(int64_t{distance});
  if (frames >= end) return false;
  *found = {bytes,        end - header, header, reinterpret_cast<const unsigned char*>(frames),
            end - frames, frames};
  return true;
}

}  // namespace pctally
