#include "import/imported_names.h"

#include "import/recorded_object.h"

namespace pctally {
namespace {

constexpr uint64_t kDevice = 0x696d706f72746564;  ///< in place of a device: the names came with the profile

class ImportedSymbolizer : public Symbolizer {
 public:
  explicit ImportedSymbolizer(const ImportedObject& object) : object_(object) {}

  [[nodiscard]] const std::string& object_name() const override { return object_.shown(); }
  [[nodiscard]] const std::string& problem() const override { return problem_; }

  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> names;
    for (const uint64_t position : positions) names.push_back(object_.name(position));
    return names;
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> frames;
    for (const uint64_t position : positions) frames.push_back(object_.frames(position));
    return frames;
  }

 private:
  const ImportedObject& object_;
  std::string problem_;
};

/// All that distinguishes one place of a function from another.
std::string key_of(const std::vector<Frame>& frames) {
  std::string key;
  for (const Frame& frame : frames)
    key.append(frame.function)
        .append(1, '\0')
        .append(frame.file)
        .append(1, '\0')
        .append(std::to_string(frame.line) + ';');
  return key;
}

}  // namespace

uint64_t ImportedObject::position(const std::vector<Frame>& frames) {
  const Frame& outer = frames.back();
  const auto [entry, fresh] =
      known_.try_emplace(outer.function + '\0' + outer.linkage, static_cast<uint32_t>(functions_.size()));
  if (fresh) functions_.push_back({outer.function, outer.linkage, {}, {}});
  const uint64_t start = uint64_t{entry->second} << kPlaceBits;
  if (frames.size() == 1 && outer.line == 0) return start;
  Function& function = functions_[entry->second];
  const auto [place, added] =
      function.known.try_emplace(key_of(frames), static_cast<uint32_t>(function.places.size() + 1));
  if (added) function.places.push_back(frames);
  return start + place->second;
}

NamedRange ImportedObject::name(uint64_t position) const {
  const uint64_t number = position >> kPlaceBits;
  if (number >= functions_.size()) return {};
  const Function& function = functions_[number];
  return {function.name, number << kPlaceBits, (number + 1) << kPlaceBits, function.linkage, 0};
}

std::vector<Frame> ImportedObject::frames(uint64_t position) const {
  const uint64_t number = position >> kPlaceBits;
  if (number >= functions_.size()) return {};
  const uint64_t place = position & ((uint64_t{1} << kPlaceBits) - 1);
  const Function& function = functions_[number];
  if (place == 0 || place > function.places.size()) return {{function.name, "", 0, function.linkage}};
  return function.places[place - 1];
}

Executable ImportedNames::executable(const std::string& path, const std::vector<uint8_t>& build_id) {
  const auto [entry, fresh] = known_.try_emplace({path, build_id}, objects_.size() + 1);
  if (fresh) objects_.emplace_back(path);
  Executable executable;
  if (path == kKernelObject) executable.kind = ExecutableKind::kKernel;
  executable.path = path;
  executable.build_id = build_id;
  executable.stamp = {.device = kDevice, .inode = entry->second};
  return executable;
}

bool ImportedNames::knows(const FileStamp& stamp) const {
  return stamp.device == kDevice && stamp.inode != 0 && stamp.inode <= objects_.size();
}

std::unique_ptr<Symbolizer> ImportedNames::open(const ExecutableIdentity& identity) const {
  if (!knows({.device = identity.device, .inode = identity.inode})) return nullptr;
  return std::make_unique<ImportedSymbolizer>(objects_[identity.inode - 1]);
}

}  // namespace pctally
