// One function, instruction by instruction and line by line: where its ticks lie. Pure values but for the
// names and the bytes, which are read through the Symbolizer.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "report/account/account.h"
#include "report/annotate/disassembler.h"
#include "report/annotate/find_function.h"
#include "report/annotate/source_files.h"
#include "report/path_totals.h"
#include "report/statistics/interval.h"

namespace pctally {

/// Ticks as shares of all ticks of the profile, as in the report.
struct TickShare {
  uint64_t ticks = 0;
  double share = 0;
  Interval interval;
};

struct AnnotatedInstruction {
  Instruction instruction;
  TickShare ticks;
};

/// With what is called, of profiles with call paths.
struct MeasuredTotal : TotalShare {
  PathTotal ticks;
};

/// A line of the function's own source: what was inlined there counts for the line of the call.
struct AnnotatedLine {
  std::string file;   ///< empty: not known
  uint32_t line = 0;  ///< 0: not known
  TickShare ticks;
  MeasuredTotal total;
};

struct Annotation {
  const HotFunction* function = nullptr;
  TickShare ticks;      ///< of the function; the sum over instructions, and over lines
  MeasuredTotal total;  ///< of the function
  /// All of its instructions; without its code one for each place with ticks.
  std::vector<AnnotatedInstruction> instructions;
  bool with_totals = false;          ///< of lines: the profile has call paths
  std::vector<AnnotatedLine> lines;  ///< largest total first, or most ticks
  std::set<std::string> files;       ///< that its ticks are in, also those of inlined functions
  bool has_lines = false;            ///< false: debug information knows no line
  std::string problem;               ///< why there are no instructions; empty if there are
  std::string line_problem;          ///< what is missing of lines and inlined functions
};

/// Builds the annotation and keeps what it takes to show an instruction.
class Annotator {
 public:
  /// REQUIRES: all outlive this.
  Annotator(const Profile& profile, ObjectNames& names, const HotFunction& function, Syntax syntax);

  [[nodiscard]] const Annotation& annotation() const { return annotation_; }
  [[nodiscard]] const CodeBytes& code() const { return disassembler_.code(); }

  /// Whether a source of its ticks is still what it was compiled from.
  [[nodiscard]] SourceChange change_of_source(const std::string& path, SourceFiles& sources) const;

  /// Source frames of each instruction (indices ascending), innermost first.
  std::vector<std::vector<Frame>> frames(const std::vector<size_t>& instructions);
  [[nodiscard]] InstructionText text(size_t instruction) const;

  /// Index of the instruction that a direct jump inside the function leads to.
  [[nodiscard]] std::optional<size_t> jump_target(size_t instruction) const;
  /// Looks up what these instructions call and jump to outside the function, all at once: one look-up goes
  /// over all symbols of the object.
  void find_targets(const std::vector<size_t>& instructions);
  /// What an instruction calls or jumps to outside the function: "memcmp@plt", "main+0x12"; empty if that has
  /// no name. REQUIRES: find_targets() of it.
  [[nodiscard]] std::string target_name(size_t instruction) const;

 private:
  [[nodiscard]] uint64_t position_of(uint64_t address) const;
  [[nodiscard]] TickShare measured(uint64_t ticks) const;
  [[nodiscard]] std::optional<size_t> instruction_at(uint64_t address) const;
  void add_instructions();
  [[nodiscard]] std::string why_no_instructions() const;
  void add_places();
  void add_lines();
  void add_totals(ObjectNames& names);
  [[nodiscard]] bool is_in_function(const PathTreeNode& node) const;
  [[nodiscard]] PathTotal total_of_copy() const;
  [[nodiscard]] PathTotal total_of_row(const PathFunctions& functions, ObjectNames& names) const;
  [[nodiscard]] MeasuredTotal measured(const PathTotal& total) const;
  /// The number of the line in the annotation, which is added if it is not there yet.
  uint32_t line_of(const std::vector<Frame>& frames);

  const Profile& profile_;
  Symbolizer& symbolizer_;
  const HotFunction& function_;
  double samples_ = 0;
  Disassembler disassembler_;
  Annotation annotation_;
  SourceDigests digests_;
  std::map<uint64_t, std::string> targets_;  ///< names by address
};

}  // namespace pctally
