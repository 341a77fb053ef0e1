// profil() of AIX: one range, or an array of them that ends with a p_high of 0.
#include "pctally/aix.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/region_builder.h"

namespace pctally {
namespace {

enum class Form { kShort, kArray };

constinit Session g_aix("aix");
Form g_form GUARDED_BY(g_sessions_mutex);  ///< of the call that turned it on

uint64_t address(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

/// "Off" has no effect while it is off, nor by the other form than the one that turned it on. Neither is an
/// error. A profile that a fault has ended counts as off, but its clock still has to be stopped.
int turn_off(Form form) noexcept REQUIRES(g_sessions_mutex) {
  if (!g_aix.on() || g_form == form) g_aix.stop();
  return 0;
}

int turned_on(int error, Form form) noexcept REQUIRES(g_sessions_mutex) {
  if (error == 0) g_form = form;
  return error;
}

int short_form(void* buffer, unsigned bytes, uint64_t offset, unsigned scale) noexcept
    REQUIRES(g_sessions_mutex) {
  if (meaning_of(kAixProfil, scale) == ScaleMeaning::kOff) {
    if (scale > 0xffff && is_verbose()) say("aix: scale 0x%x is off: its low 16 bits are below 2", scale);
    return turn_off(Form::kShort);
  }
  if (bytes == 0 || g_aix.on()) return 0;
  if (!writable(buffer, bytes)) return EFAULT;
  return turned_on(
      profil_one(&g_aix, kAixProfil, {.base = buffer, .bytes = bytes, .offset = offset, .scale = scale}),
      Form::kShort);
}

/// The rule of monitor(): the bytes of counters there are, spread over the text.
uint32_t scale_from_sizes(const Entry& entry) noexcept {
  if (entry.low >= entry.high) return 0;
  uint64_t scale = (entry.bytes << 16) / (entry.high - entry.low);
  return scale < 0xffff ? static_cast<uint32_t>(scale) : 0xffff;
}

Entry entry_of(const pctally_aix_prof& prof) noexcept {
  Entry entry{.base = prof.p_buff,
              .bytes = prof.p_bufsize > 0 ? static_cast<uint64_t>(prof.p_bufsize) : 0,
              .offset = address(prof.p_low),
              .scale = prof.p_scale,
              .low = address(prof.p_low),
              .high = address(prof.p_high)};
  if (prof.p_scale == kAixScaleFromSizes) entry.scale = scale_from_sizes(entry);
  return entry;
}

/// From the lowest byte of any buffer to the highest: "a single contiguous buffer space".
struct BufferSpace {
  uint64_t low = UINT64_MAX, last = 0;
  bool wraps = false;  ///< a buffer reaches beyond the end of the address space

  void add(const Entry& entry) noexcept {
    if (entry.bytes == 0) return;
    uint64_t first = address(entry.base), end = first + entry.bytes - 1;
    if (end < first) wraps = true;
    if (first < low) low = first;
    if (end > last) last = end;
  }
  [[nodiscard]] bool usable() const noexcept {
    if (wraps) return false;
    return last < low || writable(reinterpret_cast<void*>(low), last - low + 1);
  }
};

/// Copies the entry at *from and moves on; false if it cannot be read.
bool next_entry(const pctally_aix_prof** from, pctally_aix_prof* prof) noexcept {
  if (!readable(*from, sizeof **from)) return false;
  *prof = fetch((*from)++);
  return true;
}

int array_form(const pctally_aix_prof* from) noexcept REQUIRES(g_sessions_mutex) {
  pctally_aix_prof prof;
  if (!next_entry(&from, &prof)) return EFAULT;
  if (prof.p_high == nullptr) return turn_off(Form::kArray);
  if (g_aix.on()) return 0;
  RegionBuilder builder(kAixProfil, CellKind::kU16, 0);
  BufferSpace space;
  while (prof.p_high != nullptr) {
    const Entry entry = entry_of(prof);
    if (int error = builder.add(entry); error != 0) return error;
    space.add(entry);
    if (!next_entry(&from, &prof)) return EFAULT;
  }
  if (!space.usable()) return EFAULT;
  return turned_on(builder.start(&g_aix, kAixProfil.period_ns), Form::kArray);
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_aix_profil(void* buffer, unsigned int bufsize, unsigned long offset,
                                            unsigned int scale) {
  SessionsLock lock;
  if (bufsize == kAixArrayForm) return set_errno(array_form(static_cast<const pctally_aix_prof*>(buffer)));
  return set_errno(short_form(buffer, bufsize, offset, scale));
}
