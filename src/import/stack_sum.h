// Adds stacks of an imported file up to a profile.
#pragma once
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "import/imported_names.h"
#include "profile/profile.h"

namespace pctally {

/// Samples, frames and names a file may have.
inline constexpr uint64_t kMostImportedRows = 10'000'000;

/// Frames of one stack, the innermost. The rest of a longer one, which only a runaway recursion has, is cut.
inline constexpr size_t kMostImportedFrames = 4096;

/// Bytes of names, each as often as it is used: a file may use one long name many times.
inline constexpr uint64_t kMostImportedText = uint64_t{1} << 29;

/// A place in the code of a profile that is being imported.
struct ImportedPlace {
  uint32_t executable = 0;
  uint64_t position = 0;
};

/// What the amounts of a file are.
struct ImportedUnit {
  bool cpu_time = false;  ///< amounts are nanoseconds of CPU time; else:
  std::string event;      ///< they are numbers of these
  std::string unit{};     ///< as of ProfileRun::event_unit
  uint64_t period = 0;    ///< of the file: a tick, where every amount is whole ticks; 0: not known
};

/// The name of a place that has none.
std::string address_name(uint64_t address);

class StackSum {
 public:
  /// `program`: whose stacks they are, where the file does not say more.
  StackSum(ImportedNames* names, const std::string& program);

  /// An object whose names are in the file; see recorded_object().
  uint32_t named_object(const std::string& object, const std::vector<uint8_t>& build_id = {});
  /// A file that is asked for names, position being a file offset; or the vdso. With a build id only the file
  /// that has it is asked.
  uint32_t file_object(const std::string& path, ExecutableKind kind,
                       const std::vector<uint8_t>& build_id = {});

  /// The place of these frames in an object of named_object().
  ImportedPlace place(uint32_t object, const std::vector<Frame>& frames);

  /// Adds an amount to a stack, where it fell first, then its callers. `count`: samples it stands for.
  void add(std::span<const ImportedPlace> stack, uint64_t amount, uint64_t count,
           const std::string& program = "") {
    add(stack, amount, count, PathScope{.name = program, .build_id = {}});
  }
  /// `scope`: without a name it is the program's of all stacks. `end`: why the outer part of the stack is not
  /// there, where the file says so.
  void add(std::span<const ImportedPlace> stack, uint64_t amount, uint64_t count, const PathScope& scope,
           PathEnd end = PathEnd::kComplete);
  /// The same where no code is known for it.
  void add_outside(uint64_t amount, uint64_t count, const std::string& program = "") {
    add_outside(amount, count, PathScope{.name = program, .build_id = {}});
  }
  void add_outside(uint64_t amount, uint64_t count, const PathScope& scope) {
    add_to(&TickLedger::outside, amount, count, scope);
  }

  /// Keeps what the scopes say, even if no stack has callers.
  void keep_scopes() { keeps_scopes_ = true; }
  void add_lost(uint64_t amount);
  void add_process(int32_t pid, const std::string& comm, uint64_t amount);

  /// Everything that was added.
  [[nodiscard]] uint64_t amount() const { return sum_.ledger.ticks(); }
  /// Shares of what was added rest on so many independent samples, whatever its samples and their amounts
  /// say. REQUIRES: samples > 0; all was added.
  void set_effective_samples(double samples);

  /// False once there are more than kMostImportedRows.
  [[nodiscard]] bool add_rows(uint64_t rows) { return (rows_ += rows) <= kMostImportedRows; }

  /// False once there are more than kMostImportedText.
  [[nodiscard]] bool add_text(uint64_t bytes) { return (text_ += bytes) <= kMostImportedText; }

  /// Everything as a profile in ticks. `profile` has what is known besides.
  Result<Profile> take(const ImportedUnit& unit, Profile profile);

 private:
  /// Empty if the file has none for it.
  [[nodiscard]] std::string name_of(const ImportedPlace& place) const;
  [[nodiscard]] bool is_unknown(const ImportedPlace& place) const;
  bool add_without_place(const ImportedPlace& place, uint64_t amount, uint64_t count, const PathScope& scope);
  void add_to(uint64_t TickLedger::*row, uint64_t amount, uint64_t count, const PathScope& scope);
  void count_delivery(uint64_t amount, uint64_t count);
  uint32_t child(uint32_t parent, PathNodeKind kind, uint32_t executable, uint64_t position,
                 bool is_end = false);
  uint32_t scope_of(PathScope scope);
  [[nodiscard]] PathTree one_frame_tree() const;
  void divide(uint64_t period, Profile* profile);

  ImportedNames* names_;
  std::string program_;
  Profile sum_;
  std::map<std::pair<std::string, std::vector<uint8_t>>, uint32_t> named_;
  std::map<std::tuple<std::string, ExecutableKind, std::vector<uint8_t>>, uint32_t> files_;
  std::map<std::pair<int32_t, std::string>, uint64_t> processes_;
  std::map<PathScope, uint32_t> scopes_;
  std::map<PathTreeNode::Key, uint32_t> nodes_;
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t>
      flat_;  ///< by node of the scope, executable and position, while there are no callers
  bool has_callers_ = false, keeps_scopes_ = false;
  bool has_unread_ = false;  ///< the file says so of a path
  uint64_t common_ = 0;      ///< greatest common divisor of all amounts
  double squares_ = 0;       ///< sum of amount^2 / count
  uint64_t rows_ = 0, text_ = 0;
  bool overflow_ = false;
};

}  // namespace pctally
