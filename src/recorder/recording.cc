#include "recorder/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/file/file_at.h"
#include "base/text_field.h"
#include "base/time_ns.h"
#include "fault/file_guard.h"
#include "histfile/call_paths.h"
#include "histfile/chain.h"
#include "histfile/histogram.h"
#include "histfile/injection.h"
#include "histfile/process_note.h"
#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"
#include "perf/refusal.h"
#include "recorder/announcement.h"
#include "recorder/engine/injected_engine.h"
#include "recorder/engine/program_file.h"
#include "recorder/watchdog.h"

namespace pctally {
namespace {

constexpr size_t kMostLeftBehind = 1000;
constexpr char kRateLimit[] = "(kernel.perf_event_max_sample_rate)";
constexpr uint64_t kAccountNs = 100000000;  ///< between two readings of what the target uses

std::string file_name_for(const std::string& what, pid_t pid) {
  std::string name = what.substr(0, 64);
  for (char& c : name)
    if (!isalnum(static_cast<unsigned char>(c)) && strchr("._+-", c) == nullptr) c = '_';
  return fmt::format("pctally.{}.{}.pct", name, pid);
}

std::string last_part(const std::string& path) {
  size_t end = path.find_last_not_of('/');
  return end == std::string::npos ? path : path.substr(0, end + 1).substr(path.rfind('/', end) + 1);
}

std::string joined_by_zero(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  return text.substr(0, 65536);
}

}  // namespace

Result<void> Recording::choose_engine() {
  if (std::string absence = explain_absence(options_.event); !absence.empty())
    return fail(ENOTSUP, "%s", absence.c_str());
  bool asked_for = !options_.engine.empty();
  bool attached = options_.command.empty(), timed = options_.event.is_cpu_time();
  std::vector<EngineProbe> refused;
  for (EngineProbe& probe : probe_ladder(options_.engine)) {
    if (!asked_for && probe.enters_program && (attached || !timed)) continue;
    rule_out_unfit(&probe);
    if (probe.available) {
      candidates_.push_back(probe);
      continue;
    }
    refused.push_back(probe);
    if (!candidates_.empty()) continue;
    why_not_better_ += fmt::format("{}{}: {}", why_not_better_.empty() ? "" : "; ", probe.name, probe.reason);
  }
  if (candidates_.empty()) return explain_no_engine(refused);
  // Without it, files of ended processes and containers have no names. It has to be older than the command.
  if (candidates_[0].enters_program || files_.start_helper()) settings_.files = &files_;
  obstacle_ = attached ? ProcessNote::kNone : injection_obstacle(options_.program);
  settings_.randomise = options_.randomise;
  settings_.children = options_.children;
  settings_.scope = options_.scope;
  settings_.paths = options_.paths;
  choose_period();
  return {};
}

/// The line for the user; all reasons are for those who ask (-v).
std::unexpected<Error> Recording::explain_no_engine(const std::vector<EngineProbe>& refused) const {
  notices_->explain("no engine works here: {}", why_not_better_);
  if (std::ranges::find(refused, kTooManyFiles, &EngineProbe::reason) != refused.end())
    return too_many_files();
  std::string obstacle = perf_obstacle();
  if (options_.command.empty() && options_.engine.empty()) {
    std::string line = explain_attach(EACCES, running_target());
    if (!line.empty()) return fail(EPERM, "%s", line.c_str());
  }
  if (!options_.engine.empty() && !refused.empty()) {
    std::string remedy = refused[0].remedy.size() > 60 ? "see pctally engines" : refused[0].remedy;
    return fail(ENOSYS, "-e %s: %s; %s", refused[0].name.c_str(), refused[0].reason.c_str(), remedy.c_str());
  }
  for (const EngineProbe& probe : refused)
    if (options_.scope && *options_.scope != ScopeKind::kProgram && probe.name == "ring")
      return fail(ENOSYS,
                  "--scope %s: perf events are not allowed here (why: pctally engines); use --scope program",
                  scope_word(*options_.scope));
  if (!options_.event.is_cpu_time())
    return fail(ENOSYS, "cannot count %s: %s; see pctally engines", options_.event.name,
                obstacle.empty() ? "perf events are not allowed here" : obstacle.c_str());
  return fail(ENOSYS, "no engine works here; pctally engines says why");
}

/// Engines that run in the program cannot be put into one that runs already, and have but a clock.
void Recording::rule_out_unfit(EngineProbe* probe) const {
  if (probe->available && options_.scope && !keeps_scopes(probe->name, *options_.scope)) {
    probe->available = false;
    probe->reason = "it knows only programs";
    probe->remedy = "use -e ring, or leave out --scope";
  }
  if (!probe->available || !probe->enters_program) return;
  if (!options_.event.is_cpu_time()) {
    probe->available = false;
    probe->reason = "it counts CPU time alone";
    probe->remedy = fmt::format("use -e ring -e {0}, or -e bpf -e {0}", options_.event.name);
  } else if (options_.command.empty()) {
    probe->available = false;
    probe->reason = "it observes only programs that pctally record starts";
    probe->remedy = "start the program with pctally record -- CMD";
  }
}

void Recording::choose_period() {
  Random random;
  settings_.event = options_.event;
  settings_.period = options_.period;
  if (!settings_.event.is_cpu_time()) {
    if (options_.randomise) settings_.period = std::min(draw_count(options_.period, &random), kMostEvents);
    return;
  }
  uint64_t shortest = candidates_.front().shortest_period_ns, asked = std::max(options_.period, shortest);
  if (asked != options_.period) warn_of_limit(asked);
  settings_.period = options_.randomise ? draw_period(asked, &random) : asked;
}

void Recording::warn_of_limit(uint64_t shortest_ns) const {
  const auto ns = static_cast<double>(shortest_ns);
  if (!options_.period_text.empty())
    return notices_->warn("-c {} is below this kernel's limit; recording at {:.6g}us {}",
                          options_.period_text, ns / 1000, kRateLimit);
  const std::string hertz = options_.hertz_text.empty()
                                ? fmt::format("{:.0f}", 1e9 / static_cast<double>(options_.period))
                                : options_.hertz_text;
  notices_->warn("-F {} is above this kernel's limit; recording at {:.0f} {}", hertz, 1e9 / ns, kRateLimit);
}

Result<void> Recording::start_engine(const Target& target) {
  Error last;
  while (!candidates_.empty()) {
    std::string name = candidates_.front().name;
    candidates_.erase(candidates_.begin());
    engine_ = make_engine(name, settings_);
    environment_.clear();
    auto started = engine_->start(&file_, target, &environment_);
    if (started) {
      if (engine_->enters_program()) {
        environment_.push_back(std::string(kRecordVariable) + "=" + absolute_path(path_));
        environment_.push_back(std::string(kIdVariable) + "=" + file_.recording_id().text);
      }
      return {};
    }
    last = started.error();
    why_not_better_ += fmt::format("{}{}: {}", why_not_better_.empty() ? "" : "; ", name, last.text);
  }
  return std::unexpected(last);
}

/// For a file name.
std::string Recording::what() const {
  if (!options_.command.empty()) return last_part(options_.program);
  if (options_.machine) return "machine";
  if (!options_.cgroup.empty()) return last_part(options_.cgroup);
  return comm_of(options_.processes[0]);
}

/// For the header, in place of the command.
std::string Recording::target_text() const {
  if (!options_.command.empty()) return joined_by_zero(options_.command);
  if (options_.machine) return joined_by_zero({"@machine"});
  if (!options_.cgroup.empty()) return joined_by_zero({"@cgroup", options_.cgroup});
  std::vector<std::string> words = {"@running"};
  for (pid_t pid : options_.processes) words.push_back(fmt::format("{}:{}", pid, comm_of(pid)));
  return joined_by_zero(words);
}

Target Recording::running_target() const {
  if (options_.machine) return Target::machine();
  if (!options_.cgroup.empty()) return Target::control_group(options_.cgroup);
  return Target::running(options_.processes);
}

Result<ProfileFile> Recording::create_file() const {
  ProfileFile::Settings file;
  file.path = path_.c_str();
  file.overwrite = options_.overwrite;
  file.event = settings_.event.is_cpu_time() ? "" : settings_.event.name;
  file.period_asked_ns = options_.period;
  file.period_ns = settings_.period;
  auto created = ProfileFile::create(file);
  PathLimits limits;
  if (options_.path_bytes != 0) limits = {options_.path_bytes, options_.path_bytes};
  if (!options_.paths) limits.plane_bytes = 0;
  auto prepared = created && options_.scope ? add_call_paths(&*created, limits) : Result<void>{};
  if (!prepared) {
    created->discard();
    return std::unexpected(prepared.error());
  }
  if (created) return created;
  const Error& error = created.error();
  const char* remedy = error.code == EFBIG ? "raise it" : new_file_remedy(error.code, options_.overwrite);
  return fail(error.code, "%s; %s", error.text, remedy);
}

Result<void> Recording::explain_failed_start(const Error& error, const Target& target) const {
  notices_->explain("no engine could start: {}", why_not_better_);
  std::string line = options_.command.empty() ? explain_attach(error.code, target) : "";
  return fail(error.code, "%s", line.empty() ? error.text : line.c_str());
}

Result<void> Recording::open(const Target& target) {
  pid_t pid = target.processes.empty() ? getpid() : target.processes[0];
  path_ = options_.path.empty() ? file_name_for(what(), pid) : options_.path;
  auto created = create_file();
  if (!created) return std::unexpected(created.error());
  file_ = std::move(*created);
  (void)guard_file(file_);  // at worst it ends with the file
  account_.follow_children(options_.children);
  account_.count_tree(target);  // an engine may give up the privilege for it
  settings_.target_cpu_ns = [this] { return account_.tree_ns(); };
  auto started = start_engine(target);
  // An older file is replaced only when there is something to replace it with: once the command runs.
  if (started && !replaces_later()) started = file_.place();
  if (!started) {
    file_.discard();
    return explain_failed_start(started.error(), target);
  }
  if (engine_->enters_program() || engine_->knows_cpu_time()) account_.forget_tree();
  account_.start(target);
  FileHeader& header = file_.header();
  strncpy(header.engine, engine_->name(), sizeof header.engine - 1);
  header.command = add_string(file_.pool(), target_text());
  header.state = FileState::kRecording;
  return {};
}

/// The command runs already, and its file cannot get the name. The next recording takes a temporary name for
/// that of a left-over; but programs that join this one find it by that alone, until the end.
void Recording::give_other_name(const Error& error) {
  char part[PATH_MAX];
  part_name(path_.c_str(), &part);
  nameless_ = engine_->enters_program() || !file_.place_beside();
  path_ = nameless_ ? part : file_.path();
  notices_->line(fmt::format("{}; the profile is {}", error.text, path_), Importance::kError);
}

void Recording::drop_privileges() {
  files_.hold_kernel_symbols();
  if (auto dropped = engine_->drop_privileges(); !dropped) notices_->warn("{}", dropped.error().text);
}

RecordedFile Recording::recorded() const {
  return {path_, fmt::format("/proc/self/fd/{}", closed_file_.get())};
}

void Recording::announce() const {
  notices_->inform("{}", announcement(options_, *engine_, file_.header().kernel_observed != 0));
  std::string blind = engine_->blind_spots();
  notices_->explain("engine {}, a tick per {} {}", engine_->name(), settings_.period,
                    settings_.event.is_cpu_time() ? "ns of CPU time" : settings_.event.name);
  if (!why_not_better_.empty()) notices_->explain("not taken: {}", why_not_better_);
  if (!blind.empty()) notices_->explain("{} cannot see: {}", engine_->name(), blind);
}

Result<void> Recording::run(Child* child) {
  announce();
  if (engine_->enters_program() && obstacle_ != ProcessNote::kNone)
    notices_->warn("{} will not be observed: {}", options_.command[0], process_note_text(obstacle_));
  if (const std::string text = containers_text(options_.program, *engine_); !text.empty())
    notices_->warn("{}", text);
  if (obstacle_ == ProcessNote::kForeignLibc || obstacle_ == ProcessNote::kWordSize) environment_.clear();
  Watchdog::start(child->pid());
  if (auto let_go = child->let_go(environment_); !let_go) {
    file_.discard();
    return let_go;
  }
  if (replaces_later())
    if (auto placed = file_.place(); !placed) give_other_name(placed.error());
  drop_privileges();
  drain_until({child->signals()}, [this, child] {
    child->handle_signals();
    return !waits_for(child);
  });
  return {};
}

/// True while there is something to record.
bool Recording::waits_for(Child* child) {
  if (child->left_by() != 0) return false;
  if (!options_.wait) return !child->ended();
  if (child->tree_ended()) return false;
  if (!child->ended() || waiting_said_) return true;
  notices_->inform("{} has ended; recording {} until that ends, too; Ctrl-C ends it",
                   last_part(options_.program), process_names(child->adopted()));
  return waiting_said_ = true;
}

void Recording::watch(Attachment* attachment) {
  announce();
  if (const std::string text = left_out_text(options_.processes); options_.children && !text.empty())
    notices_->inform("{}", text);
  drop_privileges();
  Watchdog::start(0);
  drain_until(attachment->descriptors(), [attachment] { return attachment->ended(); });
  notices_->progress("");
}

void Recording::drain_until(const std::vector<int>& descriptors, const std::function<bool()>& ended) {
  std::vector<pollfd> watched;
  for (int fd : descriptors) watched.push_back({fd, POLLIN, 0});
  for (int fd : engine_->descriptors()) watched.push_back({fd, POLLIN, 0});
  uint64_t now = monotonic_ns(), deadline = options_.for_ns == 0 ? UINT64_MAX : now + options_.for_ns;
  progress_at_ = now + kNsPerSecond;
  while (!ended() && now < deadline) {
    poll(watched.data(), watched.size(), std::min(engine_->drain_interval_ms(), to_poll_ms(deadline - now)));
    for (pollfd& entry : watched)  // an event hangs up when its last task has ended
      if ((entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        entry.fd = engine_->descriptor_after(entry.fd);
    engine_->drain();
    files_.retry_waiting();
    now = monotonic_ns();
    poll_account(now);
    show_drained(now);
    Watchdog::feed();
  }
}

/// Not as often as an engine may want to be drained: a reading costs more than that. A command's CPU time is
/// known when it ends.
void Recording::poll_account(uint64_t now) {
  if (!options_.command.empty() || now < account_at_) return;
  account_.poll();
  account_at_ = now + kAccountNs;
}

/// A command has the terminal to itself.
void Recording::show_drained(uint64_t now) {
  if (!options_.command.empty() || now < progress_at_) return;
  const Ledger& ledger = file_.header().ledger;
  notices_->progress(fmt::format("{:.0f} s, {} ticks",
                                 static_cast<double>(now - file_.header().started_ns) * 1e-9,
                                 ledger.counted + ledger.outside + ledger.full));
  progress_at_ = now + 500000000u;
}

/// CPU time that processes have noted of themselves, or the recorder of those it did not observe: no more
/// than what they used. One that ended by _exit(2) or a signal has noted nothing. The ticks of those stand
/// for their time if they are more than `command_ns` and chance allow: then nobody waited for them.
uint64_t Recording::noted_cpu_ns(uint64_t command_ns) const {
  const FileHeader& header = file_.header();
  uint64_t noted = 0, sampled = 0;
  for_each_process(file_, kMostProcessRecords, [&](const ProcessRecord& record, uint32_t) {
    if (record.cpu_ns > record.entered_cpu_ns)
      noted += record.cpu_ns - record.entered_cpu_ns;
    else
      sampled += record.ticks * header.period_ns;
    return false;
  });
  const auto delivery_ns = static_cast<double>(std::max(header.period_ns, header.clock_tick_ns));
  const double chance_ns = 4 * std::sqrt(static_cast<double>(sampled) * delivery_ns);
  const double allowed_ns = 1.05 * static_cast<double>(command_ns) + chance_ns;
  return static_cast<double>(noted + sampled) > allowed_ns ? noted + sampled : noted;
}

void Recording::book_cpu_time(Child* child) {
  FileHeader& header = file_.header();
  CpuTime command;
  bool ended = child != nullptr && child->ended();
  if (ended) command = {to_ns(child->usage().ru_utime), to_ns(child->usage().ru_stime)};
  if (ended && !options_.children) command = child->own_time();
  if (ended && options_.wait)
    for (pid_t pid : child->adopted()) {
      CpuTime living = cpu_time_of(pid);
      command.user_ns += living.user_ns;
      command.system_ns += living.system_ns;
    }
  auto counted = engine_->knows_cpu_time() ? std::optional(engine_->cpu_ns()) : std::nullopt;
  if (ended && options_.children && engine_->enters_program()) counted = noted_cpu_ns(command.total());
  CpuTime used = account_.used(ended ? &command : nullptr, counted);
  header.cpu_user_ns = used.user_ns;
  header.cpu_system_ns = used.system_ns;
  header.cpu_known = account_.known();
  header.stolen_ns = account_.stolen_ns();
}

void Recording::note_unobserved(const Child& child) {
  bool seen = false;
  const std::string comm = last_part(options_.program);
  for_each_process(file_, kMostProcessRecords, [&](ProcessRecord& record, uint32_t) {
    if (record.pid != child.pid()) return false;
    // Met only before its exec, and after its end: what was seen in its file before is the reason.
    if (record.note == ProcessNote::kNotEntered && comm.starts_with(field_text(record.comm)) &&
        obstacle_ != ProcessNote::kNone)
      record.note = obstacle_;
    return seen = true;
  });
  if (seen) return;
  uint32_t unit = add_process(file_, child.pid(), getpid(), comm, "");
  if (unit == 0) return;
  auto* record = pool_at<ProcessRecord>(file_.pool(), unit);
  if (engine_->enters_program())
    record->note = obstacle_ != ProcessNote::kNone ? obstacle_ : ProcessNote::kNotEntered;
  else if (obstacle_ == ProcessNote::kPrivileged)  // what else stops an injection stops no other engine
    record->note = obstacle_;
  record->flags |= kProcessExited;
}

std::vector<pid_t> Recording::find_left_behind(const Child& child) const {
  if (!options_.children) return {};  // nobody asked for them
  std::vector<pid_t> pids = engine_->living();
  for_each_process(file_, kMostProcessRecords, [&pids](const ProcessRecord& record, uint32_t) {
    const pid_t pid = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);  // as the program claims
    bool known = std::find(pids.begin(), pids.end(), pid) != pids.end();
    if (pid > 0 && !known && (record.flags & kProcessExited) == 0) pids.push_back(pid);
    return pids.size() >= kMostLeftBehind;
  });
  // In another pid namespace a process goes by a number that is an older process's here.
  ProcStat self, other;
  (void)read_proc_stat(0, &self);
  std::erase_if(pids, [&](pid_t pid) {
    return pid == child.pid() || pid == getpid() || !read_proc_stat(pid, &other) || other.kernel_thread ||
           other.has_ended() || other.started < self.started;
  });
  return pids;
}

bool Recording::all_exited() const {
  return for_each_process(file_, kMostProcessRecords, [](const ProcessRecord& record, uint32_t) {
           const pid_t pid = __atomic_load_n(&record.pid, __ATOMIC_RELAXED);
           return (record.flags & kProcessExited) == 0 && pid > 0 && has_process(pid);
         }) == 0;
}

Result<void> Recording::finish(Child* child) {
  account_.end();  // at the last moment of sampling
  engine_->stop();
  if (const std::string blind = engine_->blind_cpus(); !blind.empty()) notices_->warn("{}", blind);
  if (child != nullptr) note_unobserved(*child);
  if (child != nullptr && (child->ended() || child->left_by() != 0)) left_behind_ = find_left_behind(*child);
  if (child != nullptr && !child->ended() && child->left_by() != 0)
    left_behind_.insert(left_behind_.begin(), child->pid());
  book_cpu_time(child);
  if (child != nullptr && child->ended()) file_.header().exit_status = child->status();
  // Only injected processes store into the file themselves.
  bool cut = !engine_->enters_program() || all_exited();
  if (nameless_ && file_.place_beside()) {
    path_ = file_.path();
    notices_->line(fmt::format("the profile is {} now", path_), Importance::kError);
  }
  closed_file_ = UniqueFd(fcntl(file_.fd(), F_DUPFD_CLOEXEC, 0));
  const int error = closed_file_.valid() ? 0 : errno;
  auto closed = file_.close(cut);
  if (!closed) return fail(closed.error().code, "%s: %s", path_.c_str(), closed.error().text);
  if (error == EMFILE)
    return fail(error, "%s has no names: %s; %s", path_.c_str(), kTooManyFiles, kRaiseFileLimit);
  if (error != 0) return fail(error, "%s has no names: %s", path_.c_str(), strerror(error));
  return find_file();
}

/// Somebody may have renamed or removed the file meanwhile.
Result<void> Recording::find_file() {
  struct stat file;
  errno = 0;
  if (fstat(closed_file_.get(), &file) != 0 || is_file_at(closed_file_.get(), path_.c_str())) return {};
  // The engine may have given up the right to search the directory.
  if (file.st_nlink != 0 && errno == EACCES) return {};
  char now[PATH_MAX] = {};
  const ssize_t bytes = readlink(recorded().path.c_str(), now, sizeof now - 1);
  if (file.st_nlink == 0 || bytes <= 0 || !is_file_at(closed_file_.get(), now))
    return fail(ENOENT, "%s was removed or replaced during the recording: its ticks are lost", path_.c_str());
  notices_->warn("{} was renamed during the recording: it is {} now", path_, now);
  path_ = now;
  return {};
}

}  // namespace pctally
