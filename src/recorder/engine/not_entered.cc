#include "recorder/engine/not_entered.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>
#include <utility>

#include "base/base_name.h"
#include "base/kernel/debugger.h"
#include "base/text_field.h"
#include "base/time_ns.h"
#include "histfile/chain.h"
#include "histfile/histogram.h"
#include "histfile/injection.h"
#include "perf/process_tree.h"
#include "process/maps_line.h"
#include "recorder/engine/injected_engine.h"
#include "recorder/engine/program_file.h"
#include "recorder/engine/trusted_processes.h"

namespace pctally {
namespace {

constexpr unsigned kMeetings = 2;          ///< the first may fall between its exec and our constructor in it
constexpr uint64_t kClocksNs = 1'000'000;  ///< by so much the kernel's times of starts may be late

/// Calls visit(const MapsLine&) for each mapping of a process (0: this one) until it returns true;
/// whether it did.
template <class Visit>
bool find_mapping(pid_t pid, Visit&& visit) {
  std::ifstream maps(directory_of(pid) + "/maps");
  for (std::string line; std::getline(maps, line);)
    if (visit(parse_maps_line(line.c_str()))) return true;
  return false;
}

/// bwrap --ro-bind and other sandboxes.
bool is_read_only(pid_t pid, const std::string& directory) {
  const std::string there = directory_of(pid) + "/root" + directory;
  return !directory.empty() && faccessat(AT_FDCWD, there.c_str(), W_OK, AT_EACCESS) != 0 && errno == EROFS;
}

/// The program that a process runs; empty: it has ended, or it is not ours to know.
std::string program_of(pid_t pid) {
  std::error_code error;
  return std::filesystem::read_symlink(directory_of(pid) + "/exe", error).string();
}

/// What valgrind executes: the tool itself.
bool is_emulator(const std::string& program) { return program.find("/valgrind/") != std::string::npos; }

uint64_t used_ns(const ProcStat& stat) { return clock_ticks_to_ns(stat.user + stat.system); }

}  // namespace

NotEntered::NotEntered(ProfileFile* file, pid_t root, uint64_t patience_ns)
    : file_(file), root_(root), patience_ns_(patience_ns) {
  find_mapping(0, [&](const MapsLine& line) {
    if (line.start != reinterpret_cast<uintptr_t>(file->mapping().data())) return false;
    recording_ = {line.device, line.inode};
    const std::string path = line.path;
    directory_ = path.substr(0, path.rfind('/') + 1);
    return true;
  });
  given_ = kIdVariable;
  given_.append("=").append(file->recording_id().text);
  if (ProcStat stat; read_proc_stat(root, &stat)) root_started_ns_ = start_ns(stat, CLOCK_MONOTONIC);
}

/// `link`: /proc/PID/exe of a process that may end at any moment.
ProcessNote NotEntered::reason_of(pid_t pid, const std::string& link, const std::string& program) const {
  if (is_debugger(tracer_of(pid))) return ProcessNote::kDebugged;
  if (is_emulator(program)) return ProcessNote::kEmulated;
  const ProcessNote obstacle = injection_obstacle(link);
  if (obstacle != ProcessNote::kNone) return obstacle;
  ProcStatus status, own;
  if (read_proc_status(pid, &status) && read_proc_status(0, &own) && status.filters > own.filters)
    return ProcessNote::kBehindFilter;
  if (!has_our_user(pid)) return geteuid() == 0 ? ProcessNote::kOtherUser : ProcessNote::kPrivileged;
  if (maps_recording(pid) == true) return ProcessNote::kUnseenFork;
  return is_read_only(pid, directory_) ? ProcessNote::kReadOnlyFile : ProcessNote::kNotEntered;
}

/// `before`: what is known already. A process that ends has no program any more, and what /proc said of it
/// meanwhile is half an answer.
ProcessNote NotEntered::reason(pid_t pid, ProcessNote before) const {
  const std::string link = directory_of(pid) + "/exe";
  const auto program = [&link](std::error_code* error) {
    return std::filesystem::read_symlink(link, *error).string();
  };
  std::error_code error;
  const std::string file = program(&error);
  if (error == std::errc::no_such_file_or_directory) return before;
  const ProcessNote now = reason_of(pid, link, file);
  return program(&error) == file ? now : before;
}

/// No second check is needed. The command has the recorder's program and environment until it is executed.
bool NotEntered::cannot_be_entered(pid_t pid, ProcessNote note) const {
  const std::string program = program_of(pid);
  switch (note) {
    case ProcessNote::kStatic:
    case ProcessNote::kForeignLibc:
    case ProcessNote::kWordSize:
    case ProcessNote::kWithoutLibc:
      return !program.empty() && !is_dynamic_linker(program);
    case ProcessNote::kEmulated:
      return is_emulator(program);
    case ProcessNote::kNotEntered:
      return !program.empty() && program != program_of(0) && was_given(pid, given_) == false &&
             program_of(pid) == program;
    default:
      return false;
  }
}

/// It gets its row now.
bool NotEntered::is_due(pid_t pid, const Process& process) const {
  const bool has_had_time = process.meetings >= kMeetings && monotonic_ns() - process.met_ns >= patience_ns_;
  return has_had_time || cannot_be_entered(pid, process.note);
}

std::optional<bool> NotEntered::maps_recording(pid_t pid) const {
  bool readable = false;
  const bool found = find_mapping(pid, [&](const MapsLine& line) {
    readable = true;
    return line.inode != 0 && std::pair(line.device, line.inode) == recording_;
  });
  return readable ? std::optional(found) : std::nullopt;
}

/// A process of another pid namespace registers by its number there, which others may have elsewhere. Of
/// several it is the youngest that is not younger than the record: one of an outer namespace has been there
/// longer. One with the record's name comes first: the outer one may have executed another program since.
pid_t NotEntered::owner_of(uint32_t unit, const ProcessRecord& record) {
  if (const auto owner = owners_.find(unit); owner != owners_.end()) return owner->second;
  const pid_t known = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);
  std::tuple<bool, uint64_t, pid_t> best{};
  for (const pid_t pid : process_tree(root_)) {
    ProcStat stat;
    if (number_inside(pid) != known || !read_proc_stat(pid, &stat)) continue;
    const uint64_t started_ns = start_ns(stat, CLOCK_MONOTONIC);
    if (started_ns > record.started_ns + kClocksNs || maps_recording(pid) == false) continue;
    best = std::max(best, {comm_of(pid) == field_text(record.comm), started_ns, pid});
  }
  const pid_t found = std::get<pid_t>(best);
  if (found != 0) owners_[unit] = found;
  return found;
}

pid_t NotEntered::find_process(uint32_t unit, const ProcessRecord& record) {
  const pid_t owner = owner_of(unit, record);
  const pid_t known = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);
  if (owner != 0 || number_inside(known) != known || maps_recording(known) != true) return owner;
  return known;  // it has left the tree
}

/// The library registers an image under its name, and the children it forks. Where the user is another one
/// since, the same program may have been executed again, and kept out.
bool NotEntered::has_entered(pid_t pid, const ProcStat& now, uint32_t row) {
  const pid_t inside = number_inside(pid);
  const uint64_t started_ns = start_ns(now, CLOCK_MONOTONIC);
  bool entered = false;
  for_each_process(*file_, kMostProcessRecords, [&](const ProcessRecord& record, uint32_t unit) {
    const pid_t known = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);
    if ((known != pid && known != inside) || record.started_ns + kClocksNs < started_ns) return false;
    const bool has_come = !field_text(record.engine).empty() || record.note == ProcessNote::kTimerless;
    const bool observed = unit != row && has_come;
    if (known != pid) return entered = observed && owner_of(unit, record) == pid;
    if (const auto owner = owners_.find(unit); owner != owners_.end() && owner->second != pid) return false;
    const bool same = comm_of(pid) == field_text(record.comm) && has_our_user(pid);
    entered = observed && (same || maps_recording(pid) == true);
    return true;  // the newest image
  });
  return entered;
}

void NotEntered::add_row(pid_t pid, Process* process) {
  process->row = add_process(*file_, pid, 0, comm_of(pid), "");
  if (process->row == 0) return;
  auto* record = pool_at<ProcessRecord>(file_->pool(), process->row);
  if (record->note == ProcessNote::kTogether) {
    process->row = 0;
    return;
  }
  record->note = reason(pid, process->note);
  process->program = program_of(pid);
}

/// The program may have executed another one meanwhile. If it has ended, only its time is known.
void NotEntered::update_row(pid_t pid, const ProcStat& now, const Process& process) const {
  auto* record = pool_at<ProcessRecord>(file_->pool(), process.row);
  if (used_ns(now) > process.first_ns) record->cpu_ns = used_ns(now) - process.first_ns;
  if (now.has_ended()) return;
  rename_process(record, comm_of(pid));
  record->note = reason(pid, record->note);
}

/// It was entered after all: what it used before is in the row of its image.
void NotEntered::take_back(ProcessRecord* record) {
  record->note = ProcessNote::kNone;
  record->cpu_ns = 0;
  record->flags |= kProcessTakenBack;
}

void NotEntered::meet(pid_t pid, Process* process) {
  ProcStat now;
  if (!read_proc_stat(pid, &now)) return;
  if (has_entered(pid, now, process->row)) {
    auto* record = process->row == 0 ? nullptr : pool_at<ProcessRecord>(file_->pool(), process->row);
    const bool same_image = !process->program.empty() && process->program == program_of(pid);
    if (record != nullptr && (record->note == ProcessNote::kUnseenFork || same_image)) take_back(record);
    *process = {};
    return;
  }
  if (process->meetings++ == 0) process->first_ns = used_ns(now), process->met_ns = monotonic_ns();
  if (process->row == 0) process->note = reason(pid, process->note);
  if (process->row == 0 && is_due(pid, *process)) add_row(pid, process);
  if (process->row == 0) return;
  update_row(pid, now, *process);
  rows_[process->row] = process->meetings;
}

void NotEntered::end() {
  std::set<std::pair<pid_t, std::string>> entered;
  for_each_process(*file_, kMostProcessRecords, [&](const ProcessRecord& record, uint32_t) {
    if (!field_text(record.engine).empty()) entered.emplace(record.pid, field_text(record.comm));
    return false;
  });
  for (const auto& [row, meetings] : rows_) {
    auto* record = pool_at<ProcessRecord>(file_->pool(), row);
    const bool may_follow =
        record->note == ProcessNote::kNotEntered || record->note == ProcessNote::kUnseenFork;
    const bool is_sure = !may_follow && meetings >= kMeetings;
    if (is_sure || !entered.contains({record->pid, field_text(record->comm)})) continue;
    take_back(record);
  }
}

/// Whether a reaper's child is of the command. Nothing where that is not known, as while it executes a
/// program.
std::optional<bool> NotEntered::is_of_command(pid_t pid) const {
  if (unrelated_.contains(pid)) return false;
  ProcStat stat;
  if (read_proc_stat(pid, &stat) && start_ns(stat, CLOCK_MONOTONIC) + kClocksNs < root_started_ns_)
    return false;
  return was_given(pid, given_);
}

/// The kernel gives orphans to a reaper: init, or one of the recorder's forefathers, or the recorder.
std::vector<pid_t> NotEntered::with_orphans(std::vector<pid_t> tree) {
  std::set<pid_t> unrelated;
  ProcStat stat;
  for (pid_t reaper = getpid(); reaper > 0 && read_proc_stat(reaper, &stat); reaper = stat.parent) {
    for (const pid_t pid : children_of(reaper)) {
      if (std::ranges::find(tree, pid) != tree.end()) continue;
      const std::optional<bool> ours = is_of_command(pid);
      if (ours == false) unrelated.insert(pid);
      if (ours != true) continue;
      const std::vector<pid_t> family = process_tree(pid);
      tree.insert(tree.end(), family.begin(), family.end());
    }
  }
  unrelated_ = std::move(unrelated);
  return tree;
}

void NotEntered::poll() {
  std::unordered_map<pid_t, Process> living;
  for (pid_t pid : with_orphans(process_tree(root_))) {
    auto known = processes_.find(pid);
    Process process = known == processes_.end() ? Process() : known->second;
    meet(pid, &process);
    if (process.meetings != 0) living[pid] = process;
  }
  processes_ = std::move(living);
}

}  // namespace pctally
