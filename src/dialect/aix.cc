// profil() of AIX: one range, or an array of them that ends with a p_high of 0.
#include "pctally/aix.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/profil.h"
#include "dialect/region_list.h"

namespace pctally {
namespace {

enum class Form { kShort, kArray };

constinit Session g_aix("aix");
Form g_form;  ///< of the call that turned it on

constexpr unsigned kArrayForm = UINT32_MAX;
constexpr unsigned kScaleFromSizes = UINT32_MAX;

uint64_t address(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

/// On while on, off while off and off by the other form are ineffective, which is no error. A profile whose
/// only buffer is gone counts as off, but its clock has to be stopped.
int turn_off(Form form) noexcept {
  if (!g_aix.on() || g_form == form) g_aix.stop();
  return 0;
}

int turned_on(const Result<void>& result, Form form) noexcept {
  if (result) g_form = form;
  return told(result);
}

int short_form(void* buffer, unsigned bytes, uint64_t offset, unsigned scale) noexcept {
  if (meaning_of(kAixProfil, scale) == ScaleMeaning::kOff) return turn_off(Form::kShort);
  if (bytes == 0 || g_aix.on()) return 0;
  if (!writable(buffer, bytes)) return refuse(EFAULT);
  return turned_on(start_one(g_aix, kAixProfil, {buffer, bytes}, offset, scale), Form::kShort);
}

/// The rule of monitor(): as many bytes of counters as there are, spread over the text.
uint32_t scale_from_sizes(const pctally_aix_prof& entry) noexcept {
  uint64_t text = address(entry.p_high) - address(entry.p_low);
  uint64_t scale = (static_cast<uint64_t>(entry.p_bufsize) << 16) / text;
  return scale < 0xffff ? static_cast<uint32_t>(scale) : 0xffff;
}

int add_entry(const pctally_aix_prof& entry, RegionList* regions) noexcept {
  if (entry.p_bufsize <= 0 || address(entry.p_low) >= address(entry.p_high)) return 0;
  uint32_t scale = entry.p_scale == kScaleFromSizes ? scale_from_sizes(entry) : entry.p_scale;
  if (meaning_of(kAixProfil, scale) == ScaleMeaning::kOff) return 0;
  Region region = region_of(kAixProfil, {entry.p_buff, static_cast<uint64_t>(entry.p_bufsize)},
                            address(entry.p_low), scale);
  if (region.last >= address(entry.p_high)) region.last = address(entry.p_high) - 1;
  return regions->add(region) ? 0 : ENOMEM;
}

/// From the lowest byte of any buffer to the highest: "a single contiguous buffer space".
struct BufferSpace {
  uint64_t low = UINT64_MAX, last = 0;
  bool wraps = false;  ///< a buffer reaches beyond the end of the address space
  void add(const pctally_aix_prof& entry) noexcept {
    if (entry.p_bufsize <= 0) return;
    uint64_t first = address(entry.p_buff), end = first + static_cast<uint64_t>(entry.p_bufsize) - 1;
    if (end < first) wraps = true;
    if (first < low) low = first;
    if (end > last) last = end;
  }
  [[nodiscard]] bool usable() const noexcept {
    if (wraps) return false;
    return last < low || writable(reinterpret_cast<void*>(low), last - low + 1);
  }
};

/// False if it cannot be read.
bool next_entry(const pctally_aix_prof*& from, pctally_aix_prof* entry) noexcept {
  if (!readable(from, sizeof *from)) return false;
  *entry = fetch(from++);
  return true;
}

int array_form(const pctally_aix_prof* given) noexcept {
  pctally_aix_prof entry;
  if (!next_entry(given, &entry)) return refuse(EFAULT);
  if (entry.p_high == nullptr) return turn_off(Form::kArray);
  if (g_aix.on()) return 0;
  RegionList regions;
  BufferSpace space;
  for (uint64_t before = 0; entry.p_high != nullptr;) {
    if (address(entry.p_high) <= before) return refuse(EINVAL);
    if (int error = add_entry(entry, &regions); error != 0) return refuse(error);
    space.add(entry);
    before = address(entry.p_high);
    if (!next_entry(given, &entry)) return refuse(EFAULT);
  }
  if (!space.usable()) return refuse(EFAULT);
  return turned_on(g_aix.start({regions.all(), nullptr, kAixProfil.period_ns}), Form::kArray);
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_aix_profil(void* buffer, unsigned int bufsize, unsigned long offset,
                                            unsigned int scale) {
  SessionLock lock;
  if (bufsize == kArrayForm) return array_form(static_cast<const pctally_aix_prof*>(buffer));
  return short_form(buffer, bufsize, offset, scale);
}
