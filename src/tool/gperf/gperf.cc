// pctally gperf: gets the counters of a program that profiles itself by osProfile(3P), by a query or at its
// osProfileFlush(), and prints where its time went.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <optional>

#include "dialect/n64/socket.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/gperf/report.h"
#include "tool/message.h"

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
  if (!symbols) return complain("{}", symbols.error().text), kExitInput;
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
  if (arguments.pid != 0 ? pid == arguments.pid : runs(pid, arguments.a_out)) return true;
  inform("process {} does not run {}: its counters are left unread", pid, arguments.a_out);
  return false;
}

int ask(const Arguments& arguments) {
  auto program = find_program(arguments);
  if (!program) {
    complain("{} is not running, or has not called osProfileInit yet", arguments.a_out);
    return kExitInput;
  }
  auto mappings = mappings_of(arguments, program->pid);
  auto counts = query(*program);
  if (!counts) return complain("process {}: {}", program->pid, counts.error().text), kExitInput;
  return print_report(arguments, *counts, mappings);
}

/// One flush. Reports what is wrong with it; the server goes on.
int receive_flush(const Arguments& arguments, UniqueFd connection) {
  auto pid = n64::peer(connection.get());
  if (!pid) return complain("{}", pid.error().text), 0;
  if (!is_wanted(arguments, *pid)) return 0;
  auto mappings = mappings_of(arguments, *pid);
  auto counts = receive_counts(std::move(connection), false);
  if (!counts) return complain("process {}: {}", *pid, counts.error().text), 0;
  return print_report(arguments, *counts, mappings);
}

/// The timeout catches a signal that comes between the test of g_ended and the wait.
int serve_flushes(const Arguments& arguments, int listener) {
  int code = 0;
  while (g_ended == 0 && code == 0) {
    pollfd waiting{listener, POLLIN, 0};
    if (poll(&waiting, 1, 500) <= 0) {
      if (arguments.pid != 0 && kill(arguments.pid, 0) != 0 && errno == ESRCH) break;
      continue;
    }
    UniqueFd connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection.valid()) code = receive_flush(arguments, std::move(connection));
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
  char path[sizeof sockaddr_un::sun_path] = "";
  auto listener = n64::listen_at(n64::kServerName, path);
  if (!listener) {
    bool taken = listener.error().code == EADDRINUSE;
    complain("{}{}", listener.error().text, taken ? "; end the other gperf -s first" : "");
    return kExitFailed;
  }
  end_on_signals();
  inform("waiting for osProfileFlush of {}; end with Ctrl-C", arguments.a_out);
  int code = serve_flushes(arguments, listener->get());
  unlink(path);
  return code;
}

void describe_options(CLI::App& app, Arguments& arguments) {
  app.add_option("a.out", arguments.a_out, "The program's executable file")->required()->option_text(" ");
  auto* counts =
      app.add_flag("-c", arguments.counts, "Print counts, not percentages; the threshold is one too");
  app.add_flag("-r", arguments.time, "Print the time used, in seconds")->excludes(counts);
  app.add_flag("-s", arguments.server, "Serve: print a report at each osProfileFlush, until interrupted");
  app.add_option("-t", arguments.threshold, "Leave out functions below T percent (with -c: T counts)")
      ->check(CLI::NonNegativeNumber.description(""))
      ->option_text("T");
  app.add_option("-p,--pid", arguments.pid, "This process; without it the newest that runs a.out")
      ->check(CLI::PositiveNumber.description(""))
      ->option_text("PID");
  app.add_option("--tcp", arguments.tcp)->group("");  // gone; the message says what replaces it
}

}  // namespace

int run_gperf(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  CLI::App app(
      "Prints where a program spends its time that profiles itself by the Nintendo 64's osProfile calls.",
      "pctally gperf");
  app.footer("Exit status: 0; 2 wrong usage; 4 no such program or file; 125 the report cannot be written.");
  describe_options(app, arguments);
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  if (!arguments.tcp.empty()) {
    complain("--tcp is gone: give gperf and the program one XDG_RUNTIME_DIR, a directory that both see");
    return kExitUsage;
  }
  if (auto symbols = count_text_symbols(arguments.a_out); !symbols)
    return complain("{}", symbols.error().text), kExitInput;
  return arguments.server ? serve(arguments) : ask(arguments);
}

}  // namespace pctally
