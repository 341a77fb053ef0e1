#include "import/recorded_object.h"

#include <algorithm>

#include "base/base_name.h"

namespace pctally {
namespace {

constexpr char kJit[] = "[jit]";

/// `text` is `before`, a decimal number and `behind`.
bool is_numbered(std::string_view text, std::string_view before, std::string_view behind) {
  if (text.size() <= before.size() + behind.size() || !text.starts_with(before) || !text.ends_with(behind))
    return false;
  const std::string_view number = text.substr(before.size(), text.size() - before.size() - behind.size());
  return number.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "/tmp/perf-12.map", "[JIT] tid 12", "jitted-12-3.so", which perf inject makes of a jitdump, and "//anon",
/// as recordings and the kernel call memory without a file.
bool is_jit(std::string_view object) {
  const std::string_view name = base_name(object);
  const size_t last = name.rfind('-');
  const bool function = last != std::string_view::npos && is_numbered(name.substr(last), "-", ".so") &&
                        is_numbered(name.substr(0, last), "jitted-", "");
  return function || object == "//anon" || is_numbered(object, "[JIT] tid ", "") ||
         (object.starts_with('/') && is_numbered(name, "perf-", ".map"));
}

bool is_kernel(std::string_view object) {
  const std::string_view name = base_name(object);
  return object.starts_with("[kernel.kallsyms]") || object == "[kernel.vmlinux]" || name == "vmlinux" ||
         name.starts_with("vmlinux-");
}

}  // namespace

std::string recorded_object(std::string_view object) {
  if (is_kernel(object)) return kKernelObject;
  return is_jit(object) ? kJit : std::string(object);
}

std::string recorded_object(std::string_view object, uint64_t address) {
  constexpr uint64_t kUpperHalf = uint64_t{1} << 63;
  const bool other = object == "[unknown]" || object == "[vsyscall]" || object.starts_with("[guest.");
  return address >= kUpperHalf && !other ? kKernelObject : recorded_object(object);
}

}  // namespace pctally
