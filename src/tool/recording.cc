#include "tool/recording.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "engine/program_file.h"
#include "engine/timer_engine.h"
#include "histfile/histogram.h"
#include "histfile/process_note.h"
#include "tool/message.h"

namespace pctally {
namespace {

std::string file_name_for(const std::string& program, pid_t pid) {
  std::string comm = program.substr(program.rfind('/') + 1).substr(0, 64);
  for (char& c : comm)
    if (!isalnum(static_cast<unsigned char>(c)) && strchr("._+-", c) == nullptr) c = '_';
  return fmt::format("pctally.{}.{}.pct", comm, pid);
}

std::string joined_by_zero(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(word).push_back('\0');
  return text.substr(0, 65536);
}

uint64_t to_ns(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_usec) * 1000u;
}

/// Calls visit(ProcessRecord&) for every process of the file.
template <class Visit>
void for_each_process(const ProfileFile& file, Visit&& visit) {
  Pool pool = file.pool();
  for (uint32_t unit = __atomic_load_n(&file.header().processes, __ATOMIC_ACQUIRE);
       pool_holds(pool, unit, 2);) {
    auto* record = pool_at<ProcessRecord>(pool, unit);
    visit(*record);
    unit = record->next;
  }
}

}  // namespace

Result<void> Recording::choose_engine() {
  bool asked = !options_.engine.empty();
  bool known = !asked;
  for (const Rung& rung : probe_ladder()) {
    if (asked && rung.name != options_.engine) continue;
    known = true;
    if (rung.available) {
      candidates_.push_back(rung.name);
    } else if (candidates_.empty()) {
      why_not_better_ += fmt::format("{}{}: {}", why_not_better_.empty() ? "" : "; ", rung.name, rung.reason);
      if (asked) why_not_better_ += "; " + rung.remedy;
    }
  }
  if (!known) return fail(EINVAL, "no engine is called %s: see pctally engines", options_.engine.c_str());
  if (candidates_.empty()) return fail(ENOSYS, "%s", why_not_better_.c_str());
  obstacle_ = injection_obstacle(options_.program);
  Random random;
  settings_.randomise = options_.randomise;
  settings_.children = options_.children;
  settings_.period_ns = options_.randomise ? draw_period(options_.period_ns, &random) : options_.period_ns;
  return {};
}

Result<void> Recording::start_engine(pid_t target) {
  Error last;
  while (!candidates_.empty()) {
    std::string name = candidates_.front();
    candidates_.erase(candidates_.begin());
    engine_ = make_engine(name, settings_);
    environment_.clear();
    auto started = engine_->start(&file_, target, &environment_);
    if (started) return {};
    last = started.error();
    why_not_better_ += fmt::format("{}{}: {}", why_not_better_.empty() ? "" : "; ", name, last.text);
  }
  return std::unexpected(last);
}

Result<void> Recording::open(Child* child) {
  path_ = options_.path.empty() ? file_name_for(options_.program, child->pid()) : options_.path;
  ProfileFile::Settings file;
  file.path = path_.c_str();
  file.overwrite = options_.overwrite;
  file.period_asked_ns = options_.period_ns;
  file.period_ns = settings_.period_ns;
  file.deferred = candidates_.back() == "timer";
  auto created = ProfileFile::create(file);
  if (!created) return std::unexpected(created.error());
  file_ = std::move(*created);
  auto started = start_engine(child->pid());
  if (!started) {
    unlink(path_.c_str());
    return started;
  }
  FileHeader& header = file_.header();
  strncpy(header.engine, engine_->name(), sizeof header.engine - 1);
  header.command = add_string(file_.pool(), joined_by_zero(options_.command));
  header.state = FileState::kRecording;
  environment_.push_back(std::string(kRecordVariable) + "=" + absolute_path(path_));
  if (header.engine != std::string("timer")) environment_.clear();
  return {};
}

Result<void> Recording::run(Child* child) {
  std::string blind = engine_->blind_spots();
  if (!why_not_better_.empty())
    inform("engine {} ({}); it cannot see: {}", engine_->name(), why_not_better_, blind);
  if (engine_->name() == std::string("timer") && obstacle_ != ProcessNote::kNone)
    inform("{} will not be observed: {}", options_.command[0], process_note_text(obstacle_));
  if (obstacle_ == ProcessNote::kForeignLibc || obstacle_ == ProcessNote::kWordSize) environment_.clear();
  if (auto let_go = child->let_go(environment_); !let_go) {
    unlink(path_.c_str());
    return let_go;
  }
  wait_and_drain(child);
  return {};
}

void Recording::wait_and_drain(Child* child) {
  std::vector<pollfd> watched = {{child->signals(), POLLIN, 0}};
  for (int fd : engine_->descriptors()) watched.push_back({fd, POLLIN, 0});
  uint64_t progress_at = monotonic_ns() + 1000000000u;
  while (!child->ended()) {
    poll(watched.data(), watched.size(), engine_->drain_interval_ms());
    for (pollfd& entry : watched)  // a ring hangs up when its last task has ended: nothing more comes from it
      if ((entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) entry.fd = -1;
    child->handle_signals();
    engine_->drain();
    if (uint64_t now = monotonic_ns(); now >= progress_at) {
      const Ledger& ledger = file_.header().ledger;
      show_progress(fmt::format("{:.0f} s, {} ticks",
                                static_cast<double>(now - file_.header().started_ns) * 1e-9,
                                ledger.counted + ledger.outside + ledger.full));
      progress_at = now + 500000000u;
    }
  }
}

void Recording::book_cpu_time(const rusage& usage) {
  FileHeader& header = file_.header();
  uint64_t user = to_ns(usage.ru_utime), system = to_ns(usage.ru_stime);
  // The engine also knows the time of descendants nobody has waited for; rusage does not.
  if (engine_->cpu_ns() > user + system) user = engine_->cpu_ns() - system;
  header.cpu_user_ns = user;
  header.cpu_system_ns = system;
  header.cpu_known = 1;
}

void Recording::note_unobserved(const Child& child) {
  bool seen = false;
  for_each_process(file_, [&](const ProcessRecord& record) { seen = seen || record.pid == child.pid(); });
  if (seen) return;
  std::string comm = options_.program.substr(options_.program.rfind('/') + 1);
  uint32_t unit = add_process(file_, child.pid(), getpid(), comm, "");
  if (unit == 0) return;
  auto* record = pool_at<ProcessRecord>(file_.pool(), unit);
  record->note = obstacle_ != ProcessNote::kNone ? obstacle_ : ProcessNote::kNotEntered;
  record->flags |= kProcessExited;
}

bool Recording::all_exited() const {
  bool all = true;
  for_each_process(file_, [&](const ProcessRecord& record) {
    bool gone = (record.flags & kProcessExited) != 0 || record.pid <= 0 || kill(record.pid, 0) != 0;
    all = all && gone;
  });
  return all;
}

void Recording::finish(const Child& child) {
  engine_->stop();
  note_unobserved(child);
  book_cpu_time(child.usage());
  file_.header().exit_status = child.status();
  // Only injected processes store into the file themselves.
  bool cut = engine_->name() != std::string("timer") || all_exited();
  if (auto closed = file_.close(cut); !closed) complain("{}", closed.error().text);
  say_result();
}

void Recording::say_result() const {
  const FileHeader& header = file_.header();
  const Ledger& ledger = header.ledger;
  uint64_t ticks =
      ledger.counted + ledger.outside + ledger.full + ledger.lost + (ledger.deferred - ledger.resolved);
  double cpu = static_cast<double>(header.cpu_user_ns + header.cpu_system_ns) * 1e-9;
  inform("engine {}, {} ticks in {:.2f} s of CPU time; to read them: pctally report {}", header.engine, ticks,
         cpu, path_);
}

}  // namespace pctally
