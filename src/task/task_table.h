// The processes that an engine outside them observes, as the kernel's records report them, and where the
// ticks of each are counted.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "path/path_recorder.h"
#include "perf/record.h"
#include "perf/target.h"
#include "process/proc_maps.h"
#include "task/mapped_objects.h"
#include "task/pool_shares.h"
#include "task/process_roots.h"
#include "task/process_rows.h"
#include "task/task.h"
#include "task/task_scopes.h"
#include "task/unknown_code.h"
#include "tick/tick.h"

namespace pctally {

/// Records and ticks go in in the order of their times. Not thread-safe.
class TaskTable {
 public:
  /// What a record or tick of an unknown process means.
  enum class Unknown : unsigned char {
    kAdopt,   ///< it is observed: it is older than the events, or its FORK record was lost
    kIgnore,  ///< it is not observed: the events see the whole machine, the target is part of it
  };

  TaskTable() = default;
  TaskTable(ProfileFile* file, std::string engine, Unknown unknown_processes)
      : file_(file),
        rows_(file, std::move(engine)),
        objects_(file),
        unknown_(file),
        shares_(file),
        unknown_processes_(unknown_processes) {}

  /// Reads the processes' files, and holds those that have ticks; null: no file is held. Outlives this.
  void use_files(ProcessFiles* files) {
    files_ = files;
    roots_ = ProcessRoots(files);
  }

  /// A command's process, which counts from its exec on.
  void expect(pid_t pid);
  /// A process that runs already.
  void adopt(pid_t pid);
  /// Its descendants of now are not observed, nor is what they start, unless they are adopted.
  void leave_out_descendants(pid_t pid);
  void follow_children(bool follow) { children_ = follow; }
  /// The events are the processes' own: the kernel takes them off one whose exec gains privileges.
  void expect_removal(bool expected) { removal_ = expected; }
  /// Records may be missing among those applied from now on: that a program mapped nothing is no sign of
  /// a removal then.
  void expect_losses(bool expected) { losses_ = expected; }

  /// Nothing is reported of a process while it is elsewhere, as outside a control group. One that comes back
  /// may execute another program.
  void expect_absences() { absences_ = true; }

  /// The processes may be of any user: all users but root and this one have shares of the pool.
  void limit_users();

  /// A FORK, EXIT, COMM or MMAP record; others are ignored. `text` is the record's.
  void apply(const PerfRecord& record, std::string_view text);

  /// Call it before a tick of a process's program image `exec_id` (the kernel's self_exec_id). If there was
  /// no record of that image's exec, the record was lost: the mappings are then read from /proc. If the image
  /// `has_passed`, because another one has taken its place, they are not known. `kernel`: the tick is in
  /// kernel mode.
  void expect_image(pid_t pid, uint32_t exec_id, bool kernel, bool has_passed);

  /// Counts ticks of one process at one place. False if the process is not observed. `first` and `last` are
  /// the times of the first and last of several ticks: if other text was mapped there between them, whose the
  /// earlier ones are is not known.
  bool count(pid_t pid, uint64_t pc, bool kernel, uint64_t ticks, uint64_t first = 0, uint64_t last = 0);

  /// Counts ticks below their scope, with their call path if paths are kept. Without `first` they are one
  /// sample's, which stands for others, too. REQUIRES: keep_scopes(). False as above.
  bool count(ThreadId thread, uint64_t pc, bool kernel, const StackSample& stack, uint64_t ticks = 1,
             uint64_t first = 0, uint64_t last = 0);

  /// Counts a tick of a thread that ran a virtual machine, where only the guest knows what ran: below its
  /// scope and the path that entered the machine, if such are kept. False as above.
  bool count_guest(ThreadId thread, const StackSample& stack);

  /// Executable memory of a process: [start, end).
  struct CodeRange {
    uint64_t start = 0, end = 0;
    uint64_t position = 0;                 ///< of its first byte, as ObjectFrames has positions
    bool known = false;                    ///< false: no tick has been in its object
    const ObjectFrames* frames = nullptr;  ///< of what is known; null: there are none
  };
  /// What is known of a process's memory now, ascending and disjoint. REQUIRES: keep_scopes().
  std::vector<CodeRange> code_of(pid_t pid);

  /// Keeps ticks apart from now on, and counts call paths. REQUIRES: the file has paths.
  void keep_scopes(ScopeKind kind, bool paths);

  /// Threads and processes of the target that have started, by their records and by adoption.
  [[nodiscard]] uint64_t starts() const noexcept { return starts_; }

  /// How often a process mapped text in place of another file's.
  [[nodiscard]] uint64_t replacements() const noexcept { return replacements_; }

  /// Books ticks of one process that had no room where they were counted. False as above.
  bool book_full(pid_t pid, uint64_t ticks);

  /// After records were lost: takes up what /proc says of its processes and of their descendants.
  void resync();

  [[nodiscard]] bool observes(pid_t pid) const { return tasks_.contains(pid); }
  /// True if it is known to have code of its own, which threads of the kernel have not.
  [[nodiscard]] bool runs_program(pid_t pid) const;
  /// True if its end was reported, or it is not observed.
  [[nodiscard]] bool has_ended(pid_t pid) const;
  /// The observed processes that have not ended.
  [[nodiscard]] std::vector<pid_t> living() const;
  [[nodiscard]] size_t size() const { return tasks_.size(); }
  [[nodiscard]] size_t known_objects() const { return objects_.size(); }

 private:
  /// Where a tick is counted.
  struct Place {
    const RegionTable* table = nullptr;
    uint64_t pc = 0;
  };
  /// A running process's; `inode` where the path is not known.
  struct Program {
    std::string path;
    uint64_t inode = 0;
  };
  class TaskCode;

  struct Ended {
    pid_t pid;
    uint64_t ns;
  };

  Task* find(pid_t pid);
  Task* counting(pid_t pid);
  void forget_ended(uint64_t before_ns);
  Task& add_running(pid_t pid);
  void map_running(pid_t pid, Task& task);
  bool visit_maps(pid_t thread, const ProcessFiles::VisitMapping& visit);
  void map_moved(pid_t pid, Task& task, uint64_t pc);
  Program program_of(pid_t pid);
  void add_mapping(pid_t pid, Task& task, const Program& program, ExecutableMapping mapping);
  void find_build_id(const std::string& path, ExecutableMapping* mapping);
  void stamp(ObjectIdentity* object);
  void find_root(pid_t pid, Task& task);
  void find_threads(pid_t pid, Task& task);
  std::string place_of(pid_t pid, const Task& task, std::string_view path, const ObjectIdentity& object);
  void map_file(const PerfRecord& record, std::string_view path, Task& task);
  void read_again(pid_t pid, Task& task);
  Place unknown_place(Task& task, std::string_view reason);
  [[nodiscard]] std::string_view reason_of(pid_t pid, const Task& task) const;
  void meet_again(pid_t pid, Task& task);
  std::set<pid_t> left_out_now();
  void take_end_back(Task& task);
  bool has_text(pid_t pid, Task& task, uint64_t pc);
  bool has_text_again(pid_t pid, Task& task, uint64_t pc);
  void apply_mmap(const PerfRecord& record, std::string_view path);
  void apply_comm(const PerfRecord& record, std::string_view comm);
  void apply_fork(const PerfRecord& record);
  void apply_exit(const PerfRecord& record);
  [[nodiscard]] bool is_removal(const Task& task) const;
  void book_end(pid_t pid, const Task& task);
  void register_task(pid_t pid, Task& task);
  Place place_tick(pid_t pid, Task& task, uint64_t pc, bool kernel);
  void map_object(Task& task, uint64_t start, uint64_t end, uint64_t position, const ObjectIdentity& object,
                  bool is_program);
  void forget_unmapped();
  void find_user(pid_t pid, Task& task);
  void make_segment(pid_t pid, Task& task, uint64_t pc);
  bool may_add_directory(pid_t pid, Task& task, uint64_t bytes);
  std::string_view refuse_cell(Task& task, uint64_t pc);
  template <class Take>
  void charge(const Task& task, Take&& take);
  void book(const Task& task, const Place& place, uint64_t samples, uint64_t weight = 1);
  void book(ThreadId thread, Task& task, const Place& place, bool kernel, const StackSample& stack,
            uint64_t samples, uint64_t weight = 1);
  bool is_in_exec(pid_t pid, Task& task, bool kernel, const StackSample& stack);
  const RegionTable& table_of(Task& task);
  const RegionTable& kernel_table(Task& task, uint64_t pc);
  CodeRange code_range(const Pool& pool, const Region& region);
  std::span<const CodeAddress> kernel_calls(Task& task, std::span<const uint64_t> returns);

  ProfileFile* file_ = nullptr;
  ProcessRows rows_;
  MappedObjects objects_;
  UnknownCode unknown_;
  PoolShares shares_;
  std::string_view refusal_;  ///< why the last code looked for has no place in the file
  Unknown unknown_processes_ = Unknown::kAdopt;
  bool children_ = true;
  bool removal_ = false;
  bool losses_ = false;
  bool absences_ = false;
  std::unordered_map<pid_t, Task> tasks_;
  std::deque<Ended> ended_;
  std::map<pid_t, uint64_t> left_out_;  ///< processes, and when they started
  ProcessRoots roots_;
  ProcessFiles* files_ = nullptr;
  AddressSpace kernel_space_;
  RegionTable kernel_table_{};
  std::vector<CodeAddress> kernel_calls_;  ///< of one tick; kept for its memory
  uint64_t replacements_ = 0;
  uint64_t starts_ = 0;
  uint64_t versions_ = 0;  ///< of tables, so far
  std::unique_ptr<PathRecorder> paths_;
  std::unique_ptr<TaskScopes> scopes_;  ///< beside paths_
};

}  // namespace pctally
