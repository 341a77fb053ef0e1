// Tells when kernel symbols expire: those of the core at the next boot, those of modules when other
// ones are loaded.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pctally {

/// Where the kernel tells which modules are loaded.
struct KernelModulePlaces {
  std::string list = "/proc/modules";
  /// Each module has a directory here, a new inode every time it is loaded.
  std::string directories = "/sys/module";
};

/// A number that changes when a module comes, goes or is loaded anew. Nothing if that cannot be known.
std::optional<uint64_t> kernel_module_state(const KernelModulePlaces& places);

/// Whether this machine has been up since then. False if it cannot be known.
bool is_this_boot(std::span<const uint8_t> boot_id);

/// The 16 bytes of an id written in hexadecimal with dashes; empty if it is not one.
std::vector<uint8_t> parse_uuid(std::string_view text);

}  // namespace pctally
