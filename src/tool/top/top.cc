// pctally top: a live table of a recording; on a terminal a screen with keys, else plain lines.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <memory>

#include "base/file/write_all.h"
#include "base/time_ns.h"
#include "histfile/profile_file.h"
#include "profile/load.h"
#include "report/print/escape.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/foreign_options.h"
#include "tool/load_profiles.h"
#include "tool/scope_options.h"
#include "tool/terminal/message.h"
#include "tool/top/recorder.h"
#include "tool/top/screen.h"
#include "tool/top/view.h"

namespace pctally {
namespace {

constexpr size_t kLinesBeneath = 2;  ///< the table: who calls the row chosen, and what it calls
constexpr int kFirstPollMs = 10;     ///< between two polls for the file of our own recorder

struct Arguments {
  std::string file, processes, cgroup, frequency, period;
  std::vector<std::string> chosen;  ///< engine, event
  bool machine = false, callers = false;
  std::string by = "function", names = "short";
  double interval_s = 1, window_s = 5;
  uint64_t count = 0, limit = 20;
  std::string filter;
  std::vector<std::string> command;
};

constexpr char kHelp[] =
    R"(Watch where the CPU time goes, live. An arrow marks a share that really changed.

  pctally top -p nginx                  a running process
  pctally top work.pct                  a recording that is still running
  pctally top -- ./prog args            a program; its output is discarded

What      FILE | -p, --pid LIST | --cgroup DIR | -a, --all | -- CMD ARGS...
How       -F, --frequency HZ   -c, --period TIME   -e, --event NAME   -e, --engine NAME
                               as for record
          -g, --callers        call paths, too: totals, and who calls the row chosen
Rows      --by KEY             function (default), object, line, process, command,
                               program, thread or cgroup
          --filter TEXT        only rows whose names contain TEXT
          --names STYLE        short (default), full or linkage
          --limit N            rows of plain lines (20; 0 all)
Time      --interval S         seconds between two refreshes (1)
          --window S           seconds that count as now (5)
          --count N            end after N refreshes

On a terminal ? shows the keys; in a pipe the table is printed again at each refresh.
Exit: 0; 2 usage; 4 FILE cannot be read; 125 failed; without a recording, that of record.
)";

/// The loop: one recording, one screen or none.
class Top {
 public:
  explicit Top(Arguments arguments) : arguments_(std::move(arguments)) {}
  int run();

 private:
  int start_recorder();
  int wait_for_recording();
  int open_file(const std::string& path);
  void show(LiveFile file, const std::string& path);
  int show_screen();
  int print_lines();
  bool wait(uint64_t until_ns, int input);
  void take_signals();
  void take_keys(Screen& screen);
  void refresh();
  void draw(Screen& screen);
  void listen();

  Arguments arguments_;
  std::unique_ptr<TopRecorder> recorder_;
  std::unique_ptr<TopView> view_;
  UniqueFd signals_;
  TopState state_;
  uint64_t refreshes_ = 0;
  bool stop_ = false, resized_ = false, continued_ = false;
  bool silent_ = false;   ///< our recorder has said its last
  bool damaged_ = false;  ///< the file, which has ended
};

/// SIGTTOU and SIGTTIN too, else a process in the background (below timeout(1), say) would stop as soon as it
/// sets up the terminal, and again when it gives it back.
UniqueFd watch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT, SIGTTOU, SIGTTIN})
    sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  let_writes_fail();
  return UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

uint64_t nanoseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e9); }

int Top::start_recorder() {
  std::vector<std::string> words;
  auto pass = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  pass("-F", arguments_.frequency);
  pass("-c", arguments_.period);
  for (const std::string& word : arguments_.chosen) pass("-e", word);
  pass("-p", arguments_.processes);
  pass("--cgroup", arguments_.cgroup);
  if (arguments_.callers) words.emplace_back("-g");
  if (is_by_scope(grouping_of(arguments_.by)))
    pass("--scope", arguments_.by.substr(0, arguments_.by.find(',')));
  if (arguments_.machine) words.emplace_back("-a");
  if (!arguments_.command.empty()) words.emplace_back("--");
  words.insert(words.end(), arguments_.command.begin(), arguments_.command.end());
  auto started = TopRecorder::start(words);
  if (!started) {
    complain("{}", started.error().text);
    return kExitFailed;
  }
  recorder_ = std::make_unique<TopRecorder>(std::move(*started));
  return wait_for_recording();
}

/// Until our recorder has a file with something to show, or has failed: then its words are ours.
int Top::wait_for_recording() {
  for (;;) {
    pollfd watched[] = {{recorder_->process(), POLLIN, 0}, {signals_.get(), POLLIN, 0}};
    poll(watched, 2, kFirstPollMs);
    take_signals();
    if (stop_) return 0;
    bool ended = recorder_->exit_code() >= 0;
    listen();
    auto file = LiveFile::open(recorder_->path().c_str());
    auto copy = file ? file->copy() : Result<FileCopy>(std::unexpected(file.error()));
    if (copy && copy->contents.header.state != FileState::kPreparing) {
      show(std::move(*file), recorder_->path());
      return 0;
    }
    if (!ended) continue;
    std::string said = recorder_->said();
    if (said.starts_with("pctally: ")) said.erase(0, 9);
    while (!said.empty() && said.back() == '\n') said.pop_back();
    complain("{}", said.empty() ? "the recorder ended before it began" : said);
    int code = recorder_->exit_code();
    return code == 0 ? kExitFailed : code;
  }
}

int Top::open_file(const std::string& path) {
  auto file = LiveFile::open(path.c_str());
  if (!file) {
    complain("{}", file.error().text);
    return kExitInput;
  }
  auto copy = file->copy();
  if (!copy) {
    complain("{}: {}", path, copy.error().text);
    return kExitInput;
  }
  const Grouping by = grouping_of(arguments_.by);
  Profile profile = load_profile(std::move(*copy));
  keep_names(file->fd(), &profile);
  if (is_by_scope(by))
    if (auto code = refuse_without_scopes(profile, path, by, {})) return *code;
  if (profile.closed) name_damage(profile, path);
  damaged_ = profile.closed && !profile.damage.empty();
  show(std::move(*file), path);
  return 0;
}

void Top::show(LiveFile file, const std::string& path) {
  view_ = std::make_unique<TopView>(std::move(file), path, nanoseconds(arguments_.window_s));
}

void Top::listen() {
  if (recorder_ != nullptr && !silent_) silent_ = !recorder_->listen();
}

void Top::take_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGWINCH)
      resized_ = true;
    else if (info.ssi_signo == SIGCONT)
      continued_ = true;
    else if (info.ssi_signo != SIGTTOU && info.ssi_signo != SIGTTIN)
      stop_ = true;
  }
}

/// Sleeps until then, or something happens; true when the time has come.
bool Top::wait(uint64_t until_ns, int input) {
  uint64_t now = monotonic_ns();
  if (now >= until_ns) return true;
  pollfd watched[] = {{signals_.get(), POLLIN, 0},
                      {input, POLLIN, 0},
                      {recorder_ != nullptr && !silent_ ? recorder_->output() : -1, POLLIN, 0}};
  poll(watched, 3, to_poll_ms(until_ns - now));
  take_signals();
  if ((watched[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) stop_ = true;  // the terminal is gone
  if (watched[2].revents != 0) listen();
  return monotonic_ns() >= until_ns;
}

void Top::refresh() {
  view_->refresh();
  ++refreshes_;
  if (arguments_.count != 0 && refreshes_ >= arguments_.count) stop_ = true;
}

/// Rows of the table: all but the lines that are always there, the keys, and those beneath the table.
size_t rows_of(const Screen& screen, const TopState& state) {
  const size_t others = kFixedLiveLines + 1 + (state.choosing ? kLinesBeneath : 0);
  return screen.height() > others ? screen.height() - others : 1;
}

LiveLine key_line(const TopState& state, size_t width) {
  if (state.typing) return {LineStyle::kHeader, "rows that contain: " + escaped(state.filter) + "_"};
  std::string text = width < 60 ? "q quit  / filter  ? help"
                                : "f o l p rows by  / filter  space freeze  w write  ? help  q quit";
  return {LineStyle::kKeys, text};
}

void Top::draw(Screen& screen) {
  state_.choosing = view_->has_paths();
  state_.scopes = view_->scopes();
  LiveTextOptions options{.names = name_style_of(arguments_.names),
                          .width = screen.width(),
                          .rows = rows_of(screen, state_),
                          .ascii = screen.ascii()};
  if (state_.help) return screen.draw(live_help(options));
  if (view_->empty()) return screen.draw({{LineStyle::kPlain, "waiting for the first tick"}});
  std::vector<LiveLine> lines = view_->lines(state_, options);
  const size_t beneath = state_.choosing ? kLinesBeneath : 0;
  size_t wanted = rows_of(screen, state_) + kFixedLiveLines + beneath;  // the account stays at the bottom
  const auto table_end = lines.end() - 1 - static_cast<ptrdiff_t>(beneath);
  if (lines.size() < wanted) lines.insert(table_end, wanted - lines.size(), LiveLine{});
  lines.push_back(key_line(state_, screen.width()));
  screen.draw(lines);
}

void Top::take_keys(Screen& screen) {
  while (std::optional<unsigned> key = screen.key()) {
    view_->say("");
    press(*key, rows_of(screen, state_), view_->rows(), &state_);
    if (state_.write) view_->write();
    state_.write = false;
    if (state_.quit) stop_ = true;
  }
}

int Top::show_screen() {
  std::unique_ptr<Screen> screen = Screen::open();
  if (screen == nullptr) return print_lines();
  uint64_t next = monotonic_ns();
  while (!stop_) {
    if (monotonic_ns() >= next) {
      if (!state_.frozen) refresh();
      next = monotonic_ns() + nanoseconds(arguments_.interval_s);
    }
    if (continued_) screen->take_back();
    if (resized_ || continued_) screen->resize();
    resized_ = continued_ = false;
    draw(*screen);
    wait(next, STDIN_FILENO);
    take_keys(*screen);
  }
  return 0;
}

bool print(const std::string& text) { return write_all(STDOUT_FILENO, text.data(), text.size()); }

int Top::print_lines() {
  uint64_t next = monotonic_ns() + (recorder_ != nullptr ? nanoseconds(arguments_.interval_s) : 0);
  while (!stop_) {
    if (!wait(next, -1)) continue;
    next = monotonic_ns() + nanoseconds(arguments_.interval_s);
    refresh();
    std::string text = refreshes_ > 1 ? "\n" : "";
    const LiveTextOptions options{.names = name_style_of(arguments_.names), .rows = arguments_.limit};
    for (const LiveLine& line : view_->lines(state_, options)) text += line.text + "\n";
    if (!print(in_locale(std::move(text)))) {
      if (errno == EPIPE) return 0;  // whoever reads has seen enough
      complain("cannot write to standard output: {}", strerror(errno));
      return kExitFailed;
    }
    stop_ = stop_ || view_->final();
  }
  return 0;
}

int Top::run() {
  signals_ = watch_signals();
  if (!signals_.valid()) {
    complain("signalfd: {}", strerror(errno));
    return kExitFailed;
  }
  state_.by = grouping_of(arguments_.by);
  state_.filter = arguments_.filter;
  int code = arguments_.file.empty() ? start_recorder() : open_file(arguments_.file);
  if (code != 0 || view_ == nullptr) return code;
  return exit_code_of(damaged_, show_screen());
}

void describe(OptionParser* app, Arguments* arguments) {
  app->help_page(kHelp);
  app->add_option("FILE", arguments->file);
  app->add_option("-p,--pid", arguments->processes);
  app->add_flag("-a,--all", arguments->machine);
  app->add_flag("-g,--callers", arguments->callers);
  app->add_option("--cgroup", arguments->cgroup);
  app->add_option("-F,--frequency", arguments->frequency);
  app->add_option("-c,--period", arguments->period);
  app->add_option("-e,--engine,--event", arguments->chosen)->one_value_each();
  app->add_option("--by", arguments->by)->check(check_grouping);
  app->add_option("--filter", arguments->filter);
  add_names_option(*app, arguments->names);
  app->add_option("--interval", arguments->interval_s)->check(number_from_to(0.05, 86400));
  app->add_option("--window", arguments->window_s)->check(number_from_to(0.05, 86400));
  app->add_option("--count", arguments->count)->check(whole_number_from_to(0, 1000000000000000));
  app->add_option("--limit", arguments->limit)->check(number_of_rows);
}

CommandLineHints hints() {
  return {.surplus = "one profile at a time; to watch a program: pctally top -- {}",
          .unknown = foreign_options("top"),
          .missing = {{"--pid", kNoProcess}},
          .twice = {{"--pid", kOneList}}};
}

/// Whether a command was typed where a profile is expected: "top sh -c ...".
bool is_command(const std::string& word) {
  const bool exists = access(word.c_str(), F_OK) == 0;
  const bool is_executable = exists && access(word.c_str(), X_OK) == 0 && !is_file_of_profile(word);
  return !word.empty() && !word.ends_with(".pct") && (!exists || is_executable);
}

/// An empty string, or what is wrong.
std::string check(const Arguments& arguments) {
  int sources = (arguments.file.empty() ? 0 : 1) + (arguments.processes.empty() ? 0 : 1) +
                (arguments.machine ? 1 : 0) + (arguments.cgroup.empty() ? 0 : 1) +
                (arguments.command.empty() ? 0 : 1);
  if (sources == 0) return "nothing to watch; name a profile, or use -p PID, --cgroup DIR, -a or -- CMD";
  if (sources > 1) return "choose one: a profile, -p, --cgroup, -a or -- CMD";
  if (is_number(arguments.file) && access(arguments.file.c_str(), F_OK) != 0)
    return fmt::format("there is no file {0}; to watch process {0}: pctally top -p {0}", arguments.file);
  bool recording = arguments.callers || !arguments.chosen.empty() || !arguments.frequency.empty() ||
                   !arguments.period.empty();
  if (recording && is_command(arguments.file))
    return fmt::format("{0} is no profile; to watch a program: pctally top -- {0} ARGS...", arguments.file);
  if (recording && access(arguments.file.c_str(), F_OK) == 0)
    return "-e, -F, -c and -g choose how to record, and that profile is recorded by another pctally";
  return {};
}

}  // namespace

int run_top(int argc, char** argv) {
  OptionParser app("pctally top");
  Arguments arguments;
  describe(&app, &arguments);
  int own = 1;
  while (own < argc && strcmp(argv[own], "--") != 0) ++own;
  if (auto code = app.parse(own, argv, hints())) return *code;
  for (int i = own + 1; i < argc; ++i) arguments.command.emplace_back(argv[i]);
  if (std::string wrong = check(arguments); !wrong.empty()) {
    complain("{}", wrong);
    return kExitUsage;
  }
  return Top(std::move(arguments)).run();
}

}  // namespace pctally
