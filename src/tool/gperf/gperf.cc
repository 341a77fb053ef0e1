// pctally gperf: gets the counters of a program that profiles itself by osProfile(3P), by a query or at its
// osProfileFlush(), and prints where its time went.
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "dialect/n64/socket.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/gperf/report.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

struct Arguments {
  std::string a_out;
  bool counts = false;
  bool time = false;
  bool server = false;
  double threshold = 0;
  pid_t pid = 0;
  std::string tcp;
};

/// Prints one line about what went wrong. Returns `code`.
template <class... Words>
int print_error(int code, fmt::format_string<Words...> format, Words&&... words) {
  complain(format, std::forward<Words>(words)...);
  return code;
}

volatile sig_atomic_t g_ended = 0;

void end_server(int) { g_ended = 1; }

bool same_file(const std::string& a, const std::string& b) {
  struct stat one, other;
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

bool runs(pid_t pid, const std::string& a_out) { return same_file(fmt::format("/proc/{}/exe", pid), a_out); }

/// The one that was named, or the newest that runs a.out.
std::optional<GperfProgram> find_program(const Arguments& arguments) {
  for (GperfProgram& program : gperf_programs())
    if (arguments.pid != 0 ? program.pid == arguments.pid : runs(program.pid, arguments.a_out))
      return program;
  return std::nullopt;
}

int print_report(const Arguments& arguments, const GperfCounts& counts,
                 const std::vector<GperfMapping>& mappings) {
  auto symbols = count_text_symbols(arguments.a_out);
  if (!symbols) return print_error(kExitInput, "{}", symbols.error().text);
  GperfLayout layout{.threshold = arguments.threshold, .text_symbols = *symbols};
  if (arguments.time) layout.unit = GperfUnit::kTime;
  if (arguments.counts) layout.unit = GperfUnit::kCounts;
  return write_out(gperf_report(counts, gperf_rows(counts, mappings), layout));
}

/// Call it before the transfer: a program may end as soon as it has sent its counters.
std::vector<GperfMapping> mappings_of(const Arguments& arguments, pid_t pid) {
  auto mappings = gperf_mappings(pid, arguments.a_out);
  if (mappings.empty()) complain("/proc/{}/maps cannot be read: nothing can be named", pid);
  return mappings;
}

bool is_wanted(const Arguments& arguments, pid_t pid) {
  return arguments.pid != 0 ? pid == arguments.pid : runs(pid, arguments.a_out);
}

/// False for another gperf -s: it connects to find out whether somebody listens, and hangs up.
bool has_counters(int socket) {
  pollfd waiting{socket, POLLIN, 0};
  char byte;
  return poll(&waiting, 1, 100) > 0 && recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void say_unwanted(const Arguments& arguments, pid_t pid) {
  if (arguments.pid != 0)
    return inform("process {} is not {}: its counters are left unread", pid, arguments.pid);
  inform("process {} does not run {}: its counters are left unread", pid, arguments.a_out);
}

int ask(const Arguments& arguments) {
  auto program = find_program(arguments);
  if (!program) {
    std::string wanted = arguments.pid != 0 ? fmt::format("process {}", arguments.pid) : arguments.a_out;
    return print_error(kExitInput, "{} is not running, or has not called osProfileInit yet", wanted);
  }
  auto mappings = mappings_of(arguments, program->pid);
  auto counts = query(*program);
  if (!counts) return print_error(kExitInput, "process {}: {}", program->pid, counts.error().text);
  return print_report(arguments, *counts, mappings);
}

/// One flush. Reports what is wrong with it; the server goes on.
int receive_flush(const Arguments& arguments, UniqueFd connection) {
  auto pid = n64::peer(connection.get());
  if (!pid) return print_error(0, "{}", pid.error().text);
  if (!is_wanted(arguments, *pid)) {
    if (has_counters(connection.get())) say_unwanted(arguments, *pid);
    return 0;
  }
  auto mappings = mappings_of(arguments, *pid);
  auto counts = receive_counts(std::move(connection), false);
  if (!counts) return print_error(0, "process {}: {}", *pid, counts.error().text);
  return print_report(arguments, *counts, mappings);
}

/// In every directory: the environments of gperf and program may differ.
struct FlushListener {
  UniqueFd sockets[n64::kDirectories];
  char paths[n64::kDirectories][sizeof sockaddr_un::sun_path] = {};

  /// Another server may have a later directory. Error: that of the last one if there is none, or EADDRINUSE.
  Result<void> open() {
    Result<void> opened = fail(0, "no directory for sockets");
    for (unsigned number = 0; number < n64::kDirectories; ++number) {
      auto listener = n64::listen_in_directory(number, n64::kServerName, paths[number]);
      if (listener) {
        sockets[number] = std::move(*listener);
        opened = {};
      } else if (!opened) {
        opened = std::unexpected(listener.error());
        if (listener.error().code == EADDRINUSE) break;
      }
    }
    return opened;
  }
  /// One connection, or none after half a second.
  UniqueFd wait() {
    pollfd waiting[n64::kDirectories];
    for (unsigned i = 0; i < n64::kDirectories; ++i) waiting[i] = {sockets[i].get(), POLLIN, 0};
    if (poll(waiting, n64::kDirectories, 500) <= 0) return {};
    auto ready = std::ranges::find_if(waiting, [](const pollfd& one) { return one.revents != 0; });
    return UniqueFd(accept4(ready->fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  }
  void remove() {
    for (auto& path : paths)
      if (path[0] != '\0') unlink(path);
  }
};

/// The timeout catches a signal that comes between the test of g_ended and the wait.
int serve_flushes(const Arguments& arguments, FlushListener& listener) {
  int code = 0;
  while (g_ended == 0 && code == 0) {
    UniqueFd connection = listener.wait();
    if (connection.valid())
      code = receive_flush(arguments, std::move(connection));
    else if (arguments.pid != 0 && kill(arguments.pid, 0) != 0 && errno == ESRCH)
      break;
  }
  return code;
}

void end_on_signals() {
  struct sigaction action {};
  action.sa_handler = end_server;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second one ends a transfer that hangs
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int serve(const Arguments& arguments) {
  FlushListener listener;
  if (auto opened = listener.open(); !opened) {
    bool taken = opened.error().code == EADDRINUSE;
    complain("{}{}", opened.error().text, taken ? "; end the other gperf -s first" : "");
    return kExitFailed;
  }
  end_on_signals();
  inform("waiting for osProfileFlush of {}; end with Ctrl-C", arguments.a_out);
  int code = serve_flushes(arguments, listener);
  listener.remove();
  return code;
}

constexpr char kHelp[] =
    R"(Print the profile of a program that calls osProfile, as the Nintendo 64's gperf did.

  pctally gperf ./game                  ask the running program for its counters
  pctally gperf -s ./game               print at each osProfileFlush, until Ctrl-C

          PROGRAM              its executable file
Figures   -c                   counts, not percentages
          -r                   seconds, not percentages
          -t T                 leave out functions below T percent (with -c: T counts)
Program   -p, --pid PID        this process; default: the newest that runs PROGRAM
          -s                   wait for osProfileFlush instead of asking

Exit: 0; 2 usage; 4 no such program or file; 125 the output failed.
)";

void describe_options(OptionParser& app, Arguments& arguments) {
  app.help_page(kHelp);
  app.add_option("PROGRAM", arguments.a_out);
  app.add_flag("-c", arguments.counts);
  app.add_flag("-r", arguments.time);
  app.add_flag("-s", arguments.server);
  app.add_option("-t", arguments.threshold)->check(number_from_to(0, 1e15));
  app.add_option("-p,--pid", arguments.pid)->check(whole_number_from_to(1, INT_MAX));
  app.add_option("--tcp", arguments.tcp)->hide();  // removed; the message says what replaces it
}

/// An empty string, or what is wrong.
std::string check(const Arguments& arguments) {
  if (arguments.a_out.empty()) return "no program named; write pctally gperf PROGRAM";
  if (arguments.counts && arguments.time) return "choose one: -c (counts) or -r (seconds)";
  if (!arguments.tcp.empty())
    return "--tcp is gone: give gperf and the program one XDG_RUNTIME_DIR, a directory that both see";
  return {};
}

}  // namespace

int run_gperf(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  OptionParser app("pctally gperf");
  describe_options(app, arguments);
  if (auto code = app.parse(argc, argv)) return *code;
  if (std::string wrong = check(arguments); !wrong.empty()) {
    complain("{}", wrong);
    return kExitUsage;
  }
  if (auto symbols = count_text_symbols(arguments.a_out); !symbols)
    return print_error(kExitInput, "{}", symbols.error().text);
  return arguments.server ? serve(arguments) : ask(arguments);
}

}  // namespace pctally
