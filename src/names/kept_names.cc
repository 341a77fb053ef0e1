#include "names/kept_names.h"

#include <algorithm>

namespace pctally {
namespace {

constexpr uint64_t kBytesPerObject = sizeof(ExecutableIdentity) + sizeof(KeptObject) + 384;
constexpr uint64_t kBytesPerSource = sizeof(KeptText) + 64;

std::vector<uint8_t> bytes_of(const uint8_t* first, size_t count) { return {first, first + count}; }

/// The inverse of NamesWriter::add_object().
ExecutableIdentity identity_of(const NamesSection& section, const NamesObject& object) {
  ExecutableIdentity identity;
  identity.kind = static_cast<ExecutableIdentity::Kind>(object.kind);
  identity.path = section.text(object.path);
  identity.build_id = bytes_of(object.build_id, object.build_id_bytes);
  identity.owner = object.owner;
  identity.device = object.device;
  identity.inode = object.inode;
  identity.file_bytes = object.file_bytes;
  identity.time_unix_ns = object.time_unix_ns;
  const bool one_boot = std::ranges::any_of(object.boot_id, [](uint8_t byte) { return byte != 0; });
  if (one_boot) identity.boot_id = bytes_of(object.boot_id, sizeof object.boot_id);
  return identity;
}

/// A boot that is not known is written as zeros.
ExecutableIdentity key_of(ExecutableIdentity identity) {
  if (std::ranges::all_of(identity.boot_id, [](uint8_t byte) { return byte == 0; })) identity.boot_id.clear();
  return identity;
}

KeptText text_of(const NamesSection& section, const NamesSource& source) {
  if (source.changed_unix_ns == kTextsDiffer) return {"", kTextsDiffer};
  return {section.text(source.text), source.changed_unix_ns};
}

/// The text existed at the earlier of the two times.
KeptText joined(const KeptText& a, const KeptText& b) {
  if (a.differs() || b.differs() || a.text != b.text) return {"", kTextsDiffer};
  return {a.text, std::min(a.changed_unix_ns, b.changed_unix_ns)};
}

}  // namespace

Result<void> KeptNames::add(std::vector<unsigned char> bytes, std::optional<uid_t> owner) {
  auto section = NamesSection::parse(std::move(bytes));
  if (!section) return std::unexpected(section.error());
  const NamesSection& kept = sections_.emplace_back(std::move(*section));
  const auto objects = kept.objects();
  for (size_t i = 0; i < objects.size(); ++i) {
    memory_ += objects[i].path.bytes;
    known_[identity_of(kept, objects[i])].push_back({&kept, static_cast<uint32_t>(i), owner});
  }
  memory_ += kept.memory() + objects.size() * kBytesPerObject + kept.sources().size() * kBytesPerSource;
  for (const NamesSource& source : kept.sources()) {
    const KeptText text = text_of(kept, source);
    const auto [known, fresh] = sources_.try_emplace(kept.text(source.path), text);
    if (!fresh) known->second = joined(known->second, text);
  }
  return {};
}

std::optional<KeptText> KeptNames::source(const std::string& path) const {
  const auto known = sources_.find(path);
  return known == sources_.end() ? std::nullopt : std::optional(known->second);
}

KeptParts KeptNames::parts(const ExecutableIdentity& identity) const {
  const auto known = known_.find(key_of(identity));
  return known == known_.end() ? KeptParts{} : parts_of(known->second);
}

std::unique_ptr<Symbolizer> KeptNames::open(const ExecutableIdentity& identity,
                                            const OpenExecutable& executable) const {
  const auto known = known_.find(key_of(identity));
  if (known == known_.end()) return nullptr;
  return std::make_unique<KeptSymbolizer>(identity, known->second, executable);
}

}  // namespace pctally
