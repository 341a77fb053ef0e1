// The names that came with profile files, whichever files a command has read. By them a profile stays
// readable: the executables may be rebuilt, removed, or on another machine.
//
// A position is looked up here first. The executable is asked for what is not here, and for better names of
// text that had none.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "names/kept_parts.h"
#include "names/kept_symbolizer.h"

namespace pctally {

/// A source that a file holds. Valid until names are added.
struct KeptText {
  std::string_view text;
  uint64_t changed_unix_ns = 0;  ///< 0: it is known to be what was compiled
  [[nodiscard]] bool differs() const { return changed_unix_ns == kTextsDiffer; }
};

class KeptNames {
 public:
  /// `owner`: of the file that has the section. Error: the section is no sound one, and why.
  Result<void> add(std::vector<unsigned char> section, std::optional<uid_t> owner = {});

  /// Null where nothing is known of the executable. REQUIRES: this outlives it, and nothing
  /// is added meanwhile.
  [[nodiscard]] std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity,
                                                 const OpenExecutable& executable) const;

  /// By the path that frames have. Where files have different texts, none counts: the functions of one build
  /// would be shown with the text of another.
  [[nodiscard]] std::optional<KeptText> source(const std::string& path) const;

  /// All of them, by path.
  [[nodiscard]] std::map<std::string_view, KeptText> sources() const {
    return {sources_.begin(), sources_.end()};
  }

  /// Memory that they take, estimated from above.
  [[nodiscard]] uint64_t memory() const { return memory_; }

  /// The code and the lines that are known of an executable.
  [[nodiscard]] KeptParts parts(const ExecutableIdentity& identity) const;

 private:
  std::deque<NamesSection> sections_;
  uint64_t memory_ = 0;
  std::map<ExecutableIdentity, std::vector<KeptObject>> known_;
  std::unordered_map<std::string_view, KeptText> sources_;  ///< texts in sections_
};

}  // namespace pctally
