#include "object/kernel/kernel_symbol_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/file/new_file.h"
#include "base/file/write_all.h"
#include "object/elf/build_id.h"
#include "object/kernel/kernel_symbol_epoch.h"

namespace pctally {
namespace {

constexpr char kPrefix[] = "kernel-";
constexpr char kMagic[8] = {'p', 'c', 't', 'k', 's', 'y', 'm', '\n'};
constexpr uint32_t kVersion = 2;
constexpr uint64_t kLargestFile = 256u << 20;
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

struct Header {
  char magic[8] = {};
  uint32_t version = 0;
  uint32_t symbol_size = 0;
  uint8_t boot_id[16] = {};
  uint64_t module_state = 0;
  KernelSymbolExtent extent;
  uint64_t symbols = 0;  ///< count
  uint64_t names = 0;    ///< bytes
};
static_assert(sizeof(Header) == 80);

bool is_ours(int fd, mode_t forbidden, struct stat* status) {
  return fstat(fd, status) == 0 && status->st_uid == geteuid() && (status->st_mode & forbidden) == 0;
}

bool is_our_directory(int fd, mode_t forbidden) {
  struct stat status;
  return is_ours(fd, forbidden, &status) && S_ISDIR(status.st_mode);
}

/// The size of a file nobody else can have written or still write; 0 if it is not one.
uint64_t own_file_size(int fd) {
  struct stat status;
  if (!is_ours(fd, 077, &status) || !S_ISREG(status.st_mode) || status.st_nlink != 1) return 0;
  const auto size = static_cast<uint64_t>(status.st_size);
  return size <= kLargestFile ? size : 0;
}

bool is_of(const Header& header, std::span<const uint8_t> boot_id) {
  return std::ranges::equal(header.magic, kMagic) && header.version == kVersion &&
         header.symbol_size == sizeof(KernelSymbol) && std::ranges::equal(header.boot_id, boot_id);
}

/// Whether the parts fill the file exactly.
bool fits(const Header& header, uint64_t size) {
  const uint64_t rest = size - sizeof header;
  return header.symbols <= rest / sizeof(KernelSymbol) &&
         header.names == rest - header.symbols * sizeof(KernelSymbol);
}

std::string file_name(std::span<const uint8_t> boot_id) { return kPrefix + to_hex(boot_id); }

Header header_of(std::span<const uint8_t> boot_id, uint64_t module_state, const KernelSymbolTable& table) {
  Header header;
  std::ranges::copy(kMagic, header.magic);
  header.version = kVersion;
  header.symbol_size = sizeof(KernelSymbol);
  std::ranges::copy(boot_id, header.boot_id);
  header.module_state = module_state;
  header.extent = table.extent();
  header.symbols = table.symbols().size() / sizeof(KernelSymbol);
  header.names = table.names().size();
  return header;
}

bool write_file(int fd, const Header& header, const KernelSymbolTable& table) {
  unsigned char bytes[sizeof header];
  memcpy(bytes, &header, sizeof header);
  return fd >= 0 && write_all(fd, bytes, sizeof bytes) &&
         write_all(fd, table.symbols().data(), table.symbols().size()) &&
         write_all(fd, table.names().data(), table.names().size());
}

bool is_regular(const UniqueFd& directory, const char* name) {
  struct stat status;
  return fstatat(directory.get(), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

/// Files of other boots, unfinished ones too, and what has the name of ours but is no file.
void remove_others(const UniqueFd& directory, const std::string& ours) {
  UniqueFd again(openat(directory.get(), ".", kOpenFlags | O_DIRECTORY));
  const std::unique_ptr<DIR, int (*)(DIR*)> list(again.valid() ? fdopendir(again.get()) : nullptr,
                                                 [](DIR* open) { return closedir(open); });
  if (!list) return;
  again.release();
  while (const dirent* entry = readdir(list.get())) {
    std::string_view name = entry->d_name;
    if (name.starts_with('.')) name.remove_prefix(1);  // a temporary name of NewFile
    const bool other = name.starts_with(kPrefix) && !name.starts_with(ours);
    if (other || (name == ours && !is_regular(directory, entry->d_name)))
      unlinkat(directory.get(), entry->d_name, 0);
  }
}

/// A variable of a program whose caller may be trusted with its files; empty if it is none.
std::string variable(const char* name) {
  const char* value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

KernelSymbolCache::KernelSymbolCache(std::string base, std::vector<std::string> below)
    : base_(std::move(base)), below_(std::move(below)) {}

KernelSymbolCache KernelSymbolCache::of_environment() {
  const std::string off = variable("PCTALLY_NO_CACHE");
  const std::string cache = variable("XDG_CACHE_HOME");
  const std::string home = variable("HOME");
  if (!off.empty() && off != "0") return {};
  if (cache.starts_with('/')) return {cache, {"pctally"}};
  if (home.starts_with('/')) return {home, {".cache", "pctally"}};
  return {};
}

std::string KernelSymbolCache::path() const {
  std::string path = base_;
  for (const std::string& name : below_) path += "/" + name;
  return path;
}

/// Every directory on the way is ours, lest we write into another's; nobody else may write into the last one.
UniqueFd KernelSymbolCache::open_directory(Missing missing) const {
  UniqueFd fd(exists() ? open(base_.c_str(), kOpenFlags | O_DIRECTORY) : -1);
  for (const std::string& name : below_) {
    if (!fd.valid() || !is_our_directory(fd.get(), 0)) return {};
    if (missing == Missing::kIsMade) mkdirat(fd.get(), name.c_str(), 0700);
    const int follow = &name == &below_.back() ? O_NOFOLLOW : 0;
    fd = UniqueFd(openat(fd.get(), name.c_str(), kOpenFlags | O_DIRECTORY | follow));
  }
  return fd.valid() && is_our_directory(fd.get(), 022) ? std::move(fd) : UniqueFd();
}

std::optional<CachedKernelSymbols> KernelSymbolCache::find(std::span<const uint8_t> boot_id) const {
  const UniqueFd directory = open_directory(Missing::kIsAFailure);
  if (!directory.valid()) return std::nullopt;
  const UniqueFd fd(openat(directory.get(), file_name(boot_id).c_str(), kOpenFlags | O_NOFOLLOW));
  auto file = MappedFile::map(fd.get(), fd.valid() ? own_file_size(fd.get()) : 0, false);
  if (!file) return std::nullopt;
  const ByteReader bytes({file->data(), file->size()});
  Header header;
  if (!bytes.read(0, &header) || !is_of(header, boot_id) || !fits(header, bytes.size())) return std::nullopt;
  const uint64_t names = sizeof header + header.symbols * sizeof(KernelSymbol);
  const KernelSymbolTable table(bytes.slice(sizeof header, names - sizeof header),
                                bytes.slice(names, header.names), header.extent);
  return CachedKernelSymbols{std::move(*file), table, header.module_state};
}

void KernelSymbolCache::keep(std::span<const uint8_t> boot_id, uint64_t module_state,
                             const KernelSymbolTable& table) const {
  const UniqueFd directory = open_directory(Missing::kIsMade);
  if (boot_id.size() != 16 || !directory.valid()) return;
  const std::string name = file_name(boot_id);
  remove_others(directory, name);
  const std::string path = "/proc/self/fd/" + std::to_string(directory.get()) + "/" + name;
  auto file =
      NewFile::create({.path = path.c_str(), .overwrite = true, .may_replace = [](int) { return true; }});
  if (!file) return;
  if (!write_file(file->fd(), header_of(boot_id, module_state, table), table) || !file->place())
    file->discard();
}

}  // namespace pctally
