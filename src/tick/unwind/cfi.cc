#include "tick/unwind/cfi.h"

#include "tick/unwind/cfi_interpreter.h"

namespace pctally {

bool find_cfi(const CfiSections& sections, uint64_t address, CfiFunction* found) noexcept {
  *found = {};
  Fde fde;
  const FdeFound entry = find_fde(sections, address, &fde);
  if (entry == FdeFound::kNone) return false;
  const bool readable = entry == FdeFound::kFound;
  found->start = fde.start;
  found->end = readable ? fde.end : address + 1;
  found->rule.cfa = CfaKind::kUnsupported;
  if (!readable) return true;
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
