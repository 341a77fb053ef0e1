#include "tool/archive/private_parts.h"

#include <string.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "histfile/layout.h"
#include "tool/archive/directories.h"

namespace pctally {
namespace {

class Editor {
 public:
  explicit Editor(std::vector<unsigned char>* bytes) : bytes_(*bytes) {
    memcpy(&header_, bytes_.data(), sizeof header_);
  }
  ~Editor() { memcpy(bytes_.data(), &header_, sizeof header_); }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  FileHeader& header() { return header_; }

  /// Calls edit(Record*) for each record of a chain.
  template <class Record, class Edit>
  void for_each(uint32_t first, Edit edit) {
    std::unordered_set<uint32_t> seen;
    Record record;
    for (uint32_t unit = first; holds(unit, sizeof record) && seen.insert(unit).second; unit = record.next) {
      memcpy(&record, at(unit), sizeof record);
      edit(&record);
      memcpy(at(unit), &record, sizeof record);
    }
  }

  [[nodiscard]] std::string text(uint32_t unit) const {
    StringRecord record;
    if (!holds(unit, sizeof record)) return {};
    memcpy(&record, bytes_.data() + unit_offset(unit), sizeof record);
    if (!holds(unit, sizeof record + uint64_t{record.bytes})) return {};
    const auto* first = reinterpret_cast<const char*>(bytes_.data() + unit_offset(unit)) + sizeof record;
    return {first, record.bytes};
  }
  /// Nothing of the old text is left. REQUIRES: `text` is not longer.
  void set_text(uint32_t unit, const std::string& text) {
    const size_t before = this->text(unit).size();
    if (text.size() >= before) return;
    const StringRecord record{static_cast<uint32_t>(text.size())};
    memset(at(unit), 0, sizeof record + before);
    memcpy(at(unit), &record, sizeof record);
    memcpy(at(unit) + sizeof record, text.data(), text.size());
  }

 private:
  [[nodiscard]] bool holds(uint32_t unit, uint64_t bytes) const {
    return unit != 0 && unit_offset(unit) <= bytes_.size() && bytes <= bytes_.size() - unit_offset(unit);
  }
  unsigned char* at(uint32_t unit) { return bytes_.data() + unit_offset(unit); }

  std::vector<unsigned char>& bytes_;
  FileHeader header_{};
};

}  // namespace

void remove_command(std::vector<unsigned char>* bytes) {
  Editor file(bytes);
  file.set_text(file.header().command, "");
  file.header().command = 0;
  file.for_each<RunRecord>(file.header().runs, [&file](RunRecord* run) {
    file.set_text(run->header.command, "");
    run->header.command = 0;
  });
}

void remove_directories(std::vector<unsigned char>* bytes) {
  Editor file(bytes);
  auto strip = [&file](uint32_t unit) { file.set_text(unit, without_directories(file.text(unit))); };
  file.for_each<ObjectRecord>(file.header().objects, [&](ObjectRecord* object) { strip(object->path); });
  file.for_each<ScopeRecord>(file.header().scopes, [&](ScopeRecord* scope) {
    if (scope->kind != ScopeKind::kGroup) strip(scope->name);  // of a group it is no file's, and "/" is one
  });
  auto strip_program = [&file](uint32_t unit) {
    const std::string words = file.text(unit);
    const size_t end = words.find('\0');
    if (end != std::string::npos)
      file.set_text(unit, without_directories(words.substr(0, end)) + words.substr(end));
  };
  strip_program(file.header().command);
  file.for_each<RunRecord>(file.header().runs, [&](RunRecord* run) { strip_program(run->header.command); });
}

}  // namespace pctally
