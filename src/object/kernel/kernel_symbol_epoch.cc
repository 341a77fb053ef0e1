#include "object/kernel/kernel_symbol_epoch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ranges>

#include "base/fnv.h"
#include "object/elf/side_file.h"

namespace pctally {
namespace {

constexpr size_t kLargestList = 16 << 20;

/// Of what is read here; kept in files.
class Digest {
 public:
  void add(std::string_view bytes) { hash_.add(bytes.data(), bytes.size()); }
  void add(uint64_t number) { add(std::to_string(number) + "\n"); }
  [[nodiscard]] uint64_t value() const { return hash_.value(); }

 private:
  Fnv hash_;
};

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

uint64_t inode_of(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

/// "name size users dependants state address": users come and go without a symbol changing.
void add_module(std::string_view line, const std::string& directories, Digest* digest) {
  size_t column = 0;
  std::string name;
  for (const auto part : std::views::split(line, ' ')) {
    const std::string_view field(part.begin(), part.end());
    if (column == 0) name = field;
    if (column == 0 || column == 1 || column == 5) digest->add(std::string(field) + " ");
    column++;
  }
  digest->add(inode_of(directories + "/" + name));
}

}  // namespace

std::optional<uint64_t> kernel_module_state(const KernelModulePlaces& places) {
  Digest digest;
  const auto list = read_side_file(places.list, kLargestList, Trust::kAnybody);
  if (!list) return list.error().code == ENOENT ? std::optional(digest.value()) : std::nullopt;
  for (const auto line : std::views::split(*list, '\n')) {
    if (!line.empty()) add_module(std::string_view(line.begin(), line.end()), places.directories, &digest);
  }
  return digest.value();
}

bool is_this_boot(std::span<const uint8_t> boot_id) {
  const auto boot = read_side_file("/proc/sys/kernel/random/boot_id", 4096, Trust::kAnybody);
  return boot && !boot_id.empty() && std::ranges::equal(parse_uuid(*boot), boot_id);
}

std::vector<uint8_t> parse_uuid(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (is_hex(c)) digits += c;
  }
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes.push_back(byte);
  }
  return bytes.size() == 16 ? bytes : std::vector<uint8_t>{};
}

}  // namespace pctally
