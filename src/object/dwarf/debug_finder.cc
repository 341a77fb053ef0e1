#include "object/dwarf/debug_finder.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace pctally {
namespace {

struct DebugLink {
  std::string name;
  uint32_t checksum = 0;
};

/// .gnu_debuglink: a file name, zeros up to a multiple of four, a CRC-32.
std::optional<DebugLink> read_link(const ElfFile& object) {
  const ElfSection* section = object.section(".gnu_debuglink");
  if (section == nullptr || !object.native_order()) return {};
  const auto bytes = object.contents(*section);
  const auto end = std::ranges::find(bytes, 0);
  DebugLink link{std::string(bytes.begin(), end)};
  const uint64_t checksum = (link.name.size() + 1 + 3) & ~uint64_t{3};
  if (link.name.empty() || link.name.find('/') != std::string::npos) return {};
  if (!ByteReader(bytes).read(checksum, &link.checksum)) return {};
  return link;
}

uint32_t checksum_of(const ElfFile& file) {
  const auto bytes = file.bytes().slice(0, file.bytes().size());
  return static_cast<uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes.data(), bytes.size()));
}

bool belongs(const ElfFile& candidate, const ElfFile& object, const DebugLink& link) {
  if (!candidate.build_id().empty() && !object.build_id().empty()) {
    return std::ranges::equal(candidate.build_id(), object.build_id());
  }
  return checksum_of(candidate) == link.checksum;
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) == nullptr ? path : std::string(buffer);
}

}  // namespace

std::unique_ptr<ElfFile> DebugFinder::find(BuildId id) const {
  const std::string name = debug_file_name(id);
  if (name.empty()) return nullptr;
  auto file = open_if_of(root_ + "/" + name, id);
  return file || fetched_.empty() ? std::move(file) : open_if_of(fetched_, id);
}

std::unique_ptr<ElfFile> DebugFinder::open_if_of(const std::string& path, BuildId id) const {
  auto file = ElfFile::open(path, trust_);
  if (!file || !std::ranges::equal(file->build_id(), id)) return nullptr;
  return std::make_unique<ElfFile>(std::move(*file));
}

std::unique_ptr<ElfFile> DebugFinder::find(const ElfFile& object) const {
  auto file = find(object.build_id());
  return file ? std::move(file) : find_by_link(object);
}

std::vector<std::string> DebugFinder::directories(const std::string& object_path) const {
  const std::string own = directory_of(object_path);
  const std::string real = directory_of(resolved(object_path));
  std::vector<std::string> list{own, own + ".debug/", root_ + real};
  if (real != own) list.insert(list.end(), {real, real + ".debug/"});
  // Merged /usr: packages still name their files by the old place.
  if (real.starts_with("/usr/")) list.push_back(root_ + real.substr(4));
  return list;
}

std::unique_ptr<ElfFile> DebugFinder::find_by_link(const ElfFile& object) const {
  const auto link = read_link(object);
  if (!link || object.path().empty()) return nullptr;
  for (const std::string& directory : directories(object.path())) {
    auto file = ElfFile::open(directory + link->name, trust_);
    if (file && belongs(*file, object, *link)) return std::make_unique<ElfFile>(std::move(*file));
  }
  return nullptr;
}

}  // namespace pctally
