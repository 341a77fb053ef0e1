// The symbolizers of a profile's executables, opened when first needed, and unambiguous names
// for the objects.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "object/symbolizer.h"
#include "profile/profile.h"

namespace pctally {

/// How a report gets its names: Symbolizer::open, a NameCache's, or a fake.
using OpenSymbolizer = std::function<std::unique_ptr<Symbolizer>(const ExecutableIdentity&)>;

/// Identifies an executable of a profile among those of all profiles.
ExecutableIdentity identity_of(const Profile& profile, const Executable& executable);

/// Gives the outermost of a place's frames, which is no inlined one, the name of its symbol: debug
/// information may know it by another, or by none.
void name_by_symbol(const NamedRange& symbol, std::vector<Frame>* frames);

/// Calls visit(i, frames) for each position, whose frames are in memory for a bounded number at a time.
void visit_frames(Symbolizer& symbolizer, std::span<const uint64_t> positions,
                  const std::function<void(size_t, std::vector<Frame>)>& visit);

class InnermostNames;

class ObjectNames {
 public:
  /// REQUIRES: profile outlives this.
  ObjectNames(const Profile& profile, const OpenSymbolizer& open);
  ~ObjectNames();

  /// REQUIRES: has(executable).
  Symbolizer& symbolizer(uint32_t executable);
  /// Whether the profile has ticks or calls in it.
  [[nodiscard]] bool has(uint32_t executable) const { return symbolizers_[executable] != nullptr; }

  /// What ran at some of the profile's positions (ascending), as of Symbolizer::name(). A choice of paths or
  /// scopes has all ticks of an entry of the unwind table at its start, whose symbol may be another one.
  std::vector<NamedRange> name_ticks(uint32_t executable, std::span<const uint64_t> positions);

  const InnermostNames& innermost();

  /// The object's name as shown: its base name; where several executables share one, the path as well, and
  /// the start of the build id if that is the same too. Private text of all processes goes by one name, and
  /// so do the kernels of several boots.
  const std::string& shown(uint32_t executable) const { return shown_[executable]; }

  /// Whether only the names of its functions distinguish them. One function then lies at many addresses: a
  /// JIT compiles it many times, and the kernel lies elsewhere in each boot. (The functions of one boot's
  /// kernel are distinguished by their addresses, too.)
  [[nodiscard]] bool known_by_name(uint32_t executable) const;

  /// As the profile has it.
  const std::string& path(uint32_t executable) const { return profile_.executables[executable].path; }

 private:
  void distinguish(const std::vector<uint32_t>& used);

  const Profile& profile_;
  bool several_kernels_ = false;  ///< of several boots or machines
  std::vector<std::unique_ptr<Symbolizer>> symbolizers_;
  std::vector<std::string> shown_;
  std::unique_ptr<const InnermostNames> innermost_;  ///< made when first needed
};

}  // namespace pctally
