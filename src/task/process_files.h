// The files that observed processes have mapped, held open: they can be read for their names when the
// processes, their containers and the files' own names are gone.
//
// Holds each file from its first tick on: at most 4,096, and at most half of the descriptors that this
// process may have.
//
// Where a helper was started, the helper alone asks file systems, because they may not answer. The file
// system that this program lies on does answer: its files are opened and read here as well.
#pragma once
#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "histfile/histogram.h"
#include "path/file_reader.h"
#include "process/proc_maps.h"
#include "task/file_helper.h"

namespace pctally {

/// Identifies a file in a profile.
struct HeldFileKey {
  std::string_view path;
  std::span<const uint8_t> build_id;
  uint64_t device = 0;
  uint64_t inode = 0;
};

class ProcessFiles : public FileReader {
 public:
  ProcessFiles();

  /// A recorder that gives up rights, or shall not wait for file systems, needs the helper.
  Result<void> start_helper();
  void end_helper() noexcept { helper_.end(); }
  /// True if it was started and then did not answer: the file systems of held files may not answer either.
  [[nodiscard]] bool has_lost_helper() const noexcept { return helper_.was_started() && !helper_.runs(); }

  /// For files that are not held.
  UniqueFd open(const std::string& path) override;
  ssize_t read(int fd, uint64_t offset, void* to, size_t bytes) override;

  /// What the process sees; asks the helper where that is not ours to know.
  Result<FileView> view_of(pid_t pid);
  Result<FileFacts> facts_of(const std::string& path);
  /// The build id of the executable at `path`; empty if it has none, or that is not known.
  std::string build_id_of(const std::string& path);
  /// The build id of what a process has mapped from `path`, where /proc shows only its inode: the kernel's
  /// records name the same object by its build id. Empty if it has none in its first part, which is all that
  /// the kernel reads, if another file is at `path` now, or without a helper.
  const std::string& build_id_of_mapped(const std::string& path, uint64_t inode);
  /// stamp_file().
  void stamp(ObjectIdentity* object);

  using VisitMapping = std::function<void(const ExecutableMapping&)>;
  /// ProcMaps::visit(), by the helper's right as well. Build ids are read from the process's memory.
  bool visit_maps(pid_t pid, const VisitMapping& visit);
  /// Whether a process's memory without a file has kTrampoline at `address`; nothing: it cannot be read.
  std::optional<bool> has_trampoline(pid_t pid, uint64_t address);

  /// Opens the kernel's symbols: the rights at that moment decide whether they can be read later.
  void hold_kernel_symbols();

  /// The file of an object that has its first tick, in the process `pid`. Its descriptor; -1: it is not held.
  int hold(const ObjectIdentity& object, pid_t pid);

  /// The files of all objects that `file` got since the last call, as they lie at their paths here: those
  /// that are still what the program mapped, and that the kernel finds without asking a file system
  /// (openat2(2), RESOLVE_CACHED: Linux 5.12). For engines that run in the program, which write the objects
  /// themselves: nothing in the file is believed. Needs no helper; such a descriptor names a file without
  /// opening it (O_PATH).
  void hold_objects(const ProfileFile& file);

  /// Holds the perf map of a process with another root, or of another pid namespace, once it is there. One
  /// that was last written before the process started is another process's, and is not held.
  void hold_perf_map(pid_t pid, const std::string& root, uint64_t started_unix_ns);
  /// Holds the jitdump of a process in place of its perf map, and returns whether it does. There is one
  /// if the process has mapped it as perf wants it: executable, under its name. `root`: as of
  /// hold_perf_map().
  bool hold_jit_dump(pid_t pid, const std::string& root, uint64_t started_unix_ns);
  /// Tries those again that were not there, at most every 100 ms.
  void retry_waiting();

  /// Descriptors of this object; -1: not held.
  [[nodiscard]] int find(const HeldFileKey& key) const;
  [[nodiscard]] int find_perf_map(pid_t pid) const;
  [[nodiscard]] int kernel_symbols() const { return kernel_symbols_.get(); }

 private:
  struct Waiting {
    pid_t pid;
    std::string path;
    uint64_t started_unix_ns;
  };
  [[nodiscard]] bool is_beside_us(const struct statx& status) const noexcept;
  UniqueFd open_beside_us(const std::string& path);
  const std::string* block_at(int fd, uint64_t block);
  bool visit_maps(ProcMaps* maps, pid_t pid, const VisitMapping& visit);
  void read_build_ids(pid_t pid, std::vector<ExecutableMapping>* mappings);
  void visit_places(pid_t pid, const VisitMapping& visit);
  bool is_file_of(const std::string& link, const ObjectIdentity& object);
  std::vector<std::string> links_to_deleted(const ObjectIdentity& object, pid_t pid);
  UniqueFd open_deleted(const ObjectIdentity& object, pid_t pid);
  UniqueFd open_mapped(const ObjectIdentity& object, pid_t pid);
  UniqueFd open_names(const std::string& path);
  bool hold_names(const Waiting& wanted);
  std::string find_jit_dump(pid_t pid);
  void forget_searches();
  std::string find_build_id(const std::string& path, bool first_part);
  void hold_at_path(const Pool& pool, const ObjectRecord& record);

  FileHelper helper_;
  uint64_t own_device_ = 0;                                 ///< that this program lies on; 0: it is not known
  std::map<std::pair<int, uint64_t>, std::string> blocks_;  ///< of files, by descriptor and number
  UniqueFd kernel_symbols_;
  size_t most_;  ///< files held
  std::unordered_map<std::string, UniqueFd> files_;
  std::unordered_map<std::string, std::string> build_ids_;  ///< by path and inode
  std::unordered_map<pid_t, UniqueFd> perf_maps_;
  std::vector<Waiting> waiting_;
  std::map<std::pair<pid_t, uint64_t>, unsigned> dump_searches_;  ///< of a process, by its start too
  size_t most_searches_;  ///< before those of processes that are gone are forgotten
  std::unordered_map<pid_t, unsigned> failed_searches_;  ///< for deleted files, of a process
  uint64_t retried_ns_ = 0;
  uint32_t newest_object_ = 0;  ///< that hold_objects() has seen
};

}  // namespace pctally
