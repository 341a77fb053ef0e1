#include "object/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "object/elf/side_file.h"

namespace pctally {

Result<KernelSymbols> KernelSymbols::load(std::span<const uint8_t> boot_id, KernelPlaces places) {
  const auto boot = read_side_file(places.boot_id, 4096, Trust::kAnybody);
  if (!boot) return std::unexpected(boot.error());
  if (boot_id.empty() || !std::ranges::equal(parse_uuid(*boot), boot_id)) {
    return fail(0, "recorded in another boot: kernel addresses mean nothing now");
  }
  KernelSymbols symbols;
  symbols.places_ = std::move(places);
  symbols.boot_id_.assign(boot_id.begin(), boot_id.end());
  symbols.cached_ = symbols.places_.cache.find(boot_id);
  if (symbols.cached_) return symbols;
  if (auto opened = symbols.open(); !opened) return std::unexpected(opened.error());
  return symbols;
}

Result<KernelSymbols> KernelSymbols::parse(std::string_view text) {
  KernelSymbols symbols;
  symbols.parser_.feed(text);
  symbols.parser_.finish();
  if (symbols.parser_.is_empty()) {
    return fail(0, "kernel symbols are hidden (run as root, or set kernel.kptr_restrict to 0)");
  }
  return symbols;
}

/// Pieces, of a page each, in which an address of text must have come: what is there before it, variables of
/// a CPU, takes a few. Where all are hidden the rest need not be read.
constexpr unsigned kMostBeforeText = 256;

/// Reads until the first address that is shown.
Result<void> KernelSymbols::open() {
  module_state_ = kernel_module_state(places_.modules);
  struct stat status;
  auto opened = open_regular(places_.symbols, &status, LastLink::kRefuse);
  if (!opened) return std::unexpected(opened.error());
  text_ = std::move(*opened);
  for (unsigned piece = 0; piece < kMostBeforeText && parser_.is_empty() && !parser_.is_complete(); ++piece) {
    if (auto read = read_piece(); !read) return read;
  }
  if (!parser_.is_empty()) return {};
  return fail(0, "kernel symbols are hidden (run as root, or set kernel.kptr_restrict to 0)");
}

/// The kernel hands out no more than a page at a time.
Result<void> KernelSymbols::read_piece() {
  char piece[16 << 10];
  const ssize_t count = read(text_.get(), piece, sizeof piece);
  if (count < 0 && errno == EINTR) return {};
  if (count < 0) return fail(errno, "cannot read %s: %s", places_.symbols.c_str(), strerror(errno));
  has_read_ = true;
  if (count == 0) {
    parser_.finish();
  } else {
    parser_.feed({piece, static_cast<size_t>(count)});
  }
  return {};
}

/// Ends early only the first time: a boot has its symbols read twice at most, unless modules come and go.
Result<void> KernelSymbols::read_for(std::span<const uint64_t> addresses) {
  if (!text_.valid()) {
    if (auto opened = open(); !opened) return opened;
  }
  while (!parser_.is_complete() && (cached_ || !parser_.knows(addresses.front(), addresses.back()))) {
    if (auto read = read_piece(); !read) return read;
  }
  return {};
}

/// A complete cache of these modules could not be better: what it lacks comes and goes.
void KernelSymbols::keep() const {
  if (!places_.cache.exists() || !module_state_) return;
  if (cached_ && cached_->table.extent().is_complete != 0 && cached_->module_state == module_state_) return;
  if (kernel_module_state(places_.modules) != module_state_) return;
  places_.cache.keep(boot_id_, *module_state_, parser_.table());
}

bool KernelSymbols::is_cached(std::span<const uint64_t> addresses) const {
  if (!cached_) return false;
  const KernelSymbolTable& table = cached_->table;
  if (table.in_core(addresses.front()) && table.in_core(addresses.back())) return true;
  return std::ranges::all_of(addresses,
                             [&](uint64_t at) { return table.in_core(at) || table.in_module(at); }) &&
         kernel_module_state(places_.modules) == cached_->module_state;
}

std::vector<NamedRange> KernelSymbols::name(std::span<const uint64_t> addresses) {
  if (addresses.empty()) return {};
  if (is_cached(addresses)) return cached_->table.name(addresses);
  if (!parser_.knows(addresses.front(), addresses.back()) && !read_for(addresses)) {
    parser_ = {};
    text_.reset();
  } else if (std::exchange(has_read_, false)) {
    keep();
  }
  return parser_.table().name(addresses);
}

}  // namespace pctally
