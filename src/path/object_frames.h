// The unwind tables of one executable file, and what Go's runtime knows of stacks, copied into memory of our
// own: whoever cuts or rewrites the file cannot fault us. Positions are file offsets, as in a profile's
// cells; for the vdso distances from its start.
//
// Refuses files that are not the one that was mapped, and what is not an ELF file of this machine. The file
// may be hostile: what is read of it, and the work on that, is bounded.
#pragma once
#include <elf.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/file/go_table.h"
#include "base/unique_fd.h"
#include "histfile/histogram.h"
#include "path/file_reader.h"
#include "tick/unwind/call_instruction.h"
#include "tick/unwind/cfi.h"
#include "tick/unwind/frameless.h"

namespace pctally {

class ObjectFrames {
 public:
  static std::unique_ptr<ObjectFrames> open(const ObjectIdentity& identity, bool keep_open = true,
                                            int held = -1, FileReader* files = nullptr);

  /// Opens the file of `identity`, or reads this process's vdso. Where that is gone, or another one by now,
  /// all its code has the rule CfaKind::kUnread: it may have tables. Without tables find() finds nothing.
  /// `keep_open`: keeps a descriptor, for returns_to(). `held`: a descriptor of the file that outlives this,
  /// for where its path does not lead to it; -1: none. `files`: opens and reads, and outlives this; null:
  /// this does so itself. Also reads what drop() has given up.
  void read(const ObjectIdentity& identity, bool keep_open, int held, FileReader* files = nullptr);

  /// Whether `fd` is the file of `identity`, open for reading. Compared by build id; by inode where the build
  /// id of one of the two is not known.
  static bool is_file_of(int fd, const ObjectIdentity& identity, FileReader& files);

  /// Gives up the tables, for their memory.
  void drop() noexcept;
  [[nodiscard]] bool is_dropped() const noexcept { return dropped_; }

  /// Memory that the tables take.
  [[nodiscard]] uint64_t bytes() const noexcept {
    return header_.capacity() + frames_.capacity() + go_bytes_.capacity();
  }

  /// The rule at a position; start and end of *found are positions, too. False if no table covers it, and it
  /// is not the code at the file's entry point, which nothing calls.
  [[nodiscard]] bool find(uint64_t position, CfiFunction* found) const noexcept;

  /// Where the function that find() found at `position` starts. In a PLT each stub is a function.
  [[nodiscard]] uint64_t start_of(const CfiFunction& function, uint64_t position) const noexcept;

  /// All that find() says, as rows in the order of their positions; below the first there is no rule.
  /// Nothing if they are too many or too much work, or the tables are dropped.
  [[nodiscard]] std::optional<std::vector<UnwindRow>> rows() const;

  /// True if a direct call of the function at position `inner` lies before a return address.
  [[nodiscard]] bool is_call_of(uint64_t position, uint64_t inner) const noexcept;

  /// aarch64: the rule at a position that no table covers, if that lies in an entry of a PLT, in the
  /// code that leaves a signal handler, or in a function of the vdso without a frame.
  bool find_by_code(uint64_t position, UnwindRule* rule) const noexcept;

  /// Whether kTrampoline is the code at `position`; nothing: it cannot be read.
  [[nodiscard]] std::optional<bool> has_trampoline(uint64_t position) const noexcept;

  /// The rule at `position`, for which the table has `found`. On aarch64 it is another one behind clone.
  [[nodiscard]] UnwindRule rule_at(const UnwindRule& found, uint64_t position) const noexcept;

  /// What the return address at `position` leads to; kCaller also where that is not known.
  [[nodiscard]] ReturnsTo returns_to(uint64_t position) const noexcept;

 private:
  using Bytes = std::vector<unsigned char>;
  struct Interval;
  struct Intervals;
  class RowMaker;

  bool open_file(const ObjectIdentity& identity, int held);
  void close_file() { fd_ = -1, opened_.reset(); }
  bool open_vdso();
  bool read_segments();
  bool read_tables();
  bool read_sorted_tables();
  bool sort_tables();
  void read_go_table();
  bool find_clone(uint64_t address, CfiFunction* found) const noexcept;
  bool find_go(uint64_t address, CfiFunction* found) const noexcept;
  template <class Visit>
  void visit_go(uint64_t number, Visit&& visit) const;
  bool find_section(const char* name, Elf64_Shdr* found) const;
  [[nodiscard]] bool read_at(uint64_t offset, void* to, size_t bytes) const noexcept;
  [[nodiscard]] Bytes read_mapped(uint64_t address, uint64_t most) const;
  [[nodiscard]] bool is_in_order() const;
  [[nodiscard]] bool is_loaded_code(uint64_t position) const noexcept;
  void add_intervals(uint32_t fde, Intervals* intervals) const;
  void add_interval(uint64_t start, uint64_t end, const UnwindRule& rule, Intervals* intervals) const;
  [[nodiscard]] bool to_address(uint64_t position, uint64_t* address) const noexcept;
  [[nodiscard]] bool to_position(uint64_t address, uint64_t* position) const noexcept;

  bool dropped_ = true;
  bool unread_ = false;  ///< the file could not be opened
  FileReader* files_ = nullptr;
  UniqueFd opened_;
  int fd_ = -1;  ///< that, or the one that is held
  Bytes image_;  ///< of the vdso
  FramelessFunctions frameless_;
  std::vector<Elf64_Phdr> loads_;
  uint64_t header_address_ = 0, header_bytes_ = 0;
  uint64_t entry_ = 0;  ///< address at which the kernel starts the program or its interpreter
  Bytes header_, frames_;
  CfiSections sections_;
  Bytes go_bytes_;
  std::optional<GoTable> go_;
};

}  // namespace pctally
