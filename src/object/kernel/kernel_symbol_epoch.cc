#include "object/kernel/kernel_symbol_epoch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ranges>

#include "base/fnv.h"
#include "base/hex.h"
#include "base/kernel/kernel_setting.h"
#include "object/elf/side_file.h"

namespace pctally {
namespace {

constexpr size_t kLargestList = 16 << 20;

/// A digest of what is read here; it is kept in files.
class Digest {
 public:
  void add(std::string_view bytes) { hash_.add(bytes.data(), bytes.size()); }
  void add(uint64_t number) { add(std::to_string(number) + "\n"); }
  [[nodiscard]] uint64_t value() const { return hash_.value(); }

 private:
  Fnv hash_;
};

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
  uint8_t boot[16];
  return read_boot_id(&boot) && std::ranges::equal(boot, boot_id);
}

std::vector<uint8_t> parse_uuid(std::string_view text) {
  std::vector<uint8_t> bytes(17);
  bytes.resize(from_hex(text.data(), text.size(), bytes.data(), bytes.size()));
  return bytes.size() == 16 ? bytes : std::vector<uint8_t>{};
}

}  // namespace pctally
