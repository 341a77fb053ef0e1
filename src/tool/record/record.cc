// pctally record: run a program and keep a profile of it.
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf/descriptor_limit.h"
#include "profile/load.h"
#include "recorder/announcement.h"
#include "recorder/engine/program_file.h"
#include "recorder/recording.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/record/add_names.h"
#include "tool/record/cannot_run.h"
#include "tool/record/held_names.h"
#include "tool/record/options.h"
#include "tool/record/summary.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

int cannot_run(const std::vector<std::string>& command, int error) {
  complain("{}", explain_cannot_run(command, error));
  return error == ENOENT ? kExitNotFound : kExitCannotRun;
}

int give_up(const Error& error) {
  complain("{}", error.text);
  return kExitFailed;
}

struct ProfileEnd {
  bool read = false;   ///< the profile could be read again
  bool stuck = false;  ///< a file system does not answer, or did not
};

/// Names, and the line about it. `child`: null, or the command's.
ProfileEnd end_profile(const Recording& recording, bool named, Child* child) {
  const RecordedFile file = recording.recorded();
  const Result<Profile> profile = load_profile(file.path.c_str());
  if (!profile) {
    complain("{}", profile.error().text);
    return {.stuck = recording.files().has_lost_helper()};
  }
  const OpenSymbolizer names = [&recording](const ExecutableIdentity& identity) {
    return open_held(recording.files(), identity);
  };
  const bool stuck = child == nullptr
                         ? add_names(file, *profile, names)
                         : add_names(
                               file, *profile, child->signals(), [child] { child->handle_signals(); }, names);
  say_summary(*profile, file, named);
  return {.read = true, .stuck = stuck || recording.files().has_lost_helper()};
}

/// Then waits for the command, unless it is to be left running.
void say_left_behind(const Recording& recording, bool waited, Child* child) {
  const bool left = child->left_by() != 0;
  if (!recording.left_behind().empty()) warn("{}", left_behind_text(recording.left_behind(), waited || left));
  child->wait();
  const bool left_now = recording.left_behind().empty() && !child->ended();  // after --for
  if (left_now) warn("{}", left_behind_text({child->pid()}, true));
}

/// The exit code of the command is passed on, whatever became of the profile.
int record_command(RecordOptions options) {
  std::vector<std::string> command = options.command;
  std::string program = options.program = find_program(command[0]);
  if (program.empty()) return cannot_run(command, errno);
  const bool named = !options.path.empty(), wait = options.wait, silent = options.top != 0;
  Recording recording(std::move(options), &recorder_notices());
  if (auto chosen = recording.choose_engine(); !chosen) return give_up(chosen.error());
  auto child = Child::fork(program, command, wait, silent);
  if (!child) return give_up(child.error());
  if (auto opened = recording.open(Target::command(child->pid())); !opened) return give_up(opened.error());
  if (auto ran = recording.run(&*child); !ran) {
    if (ran.error().code == EPIPE) end_like(child->status());
    return cannot_run(command, ran.error().code);
  }
  bool stuck = false;
  if (auto finished = recording.finish(&*child)) {
    stuck = end_profile(recording, named, &*child).stuck;
  } else {
    (void)give_up(finished.error());
  }
  say_left_behind(recording, wait, &*child);
  if (stuck)
    leave_files_behind();
  else
    recording.end_helper();
  end_like(child->ended() ? child->status() : W_EXITCODE(0, child->left_by()));
}

int record_running(RecordOptions options) {
  let_writes_fail();  // a reader of our messages that goes away does not end the recording
  bool named = !options.path.empty();
  auto attachment = Attachment::open(&options.processes, options.by_number);
  if (!attachment) return give_up(attachment.error());
  Recording recording(std::move(options), &recorder_notices());
  if (auto chosen = recording.choose_engine(); !chosen) return give_up(chosen.error());
  if (auto opened = recording.open(recording.running_target()); !opened) return give_up(opened.error());
  recording.watch(&*attachment);
  if (auto finished = recording.finish(nullptr); !finished) return give_up(finished.error());
  const ProfileEnd end = end_profile(recording, named, nullptr);
  const int code = end.read ? 0 : kExitFailed;
  if (end.stuck) {
    leave_files_behind();
    _exit(code);  // without closing a file
  }
  return code;
}

/// A recorder of top ends with it. Not by what top itself asks for: the exec of a file with capabilities
/// (setcap) undoes that. False if top has ended already.
bool ends_with(pid_t top) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  return getppid() == top;
}

}  // namespace

int run_record(int argc, char** argv) {
  RecordCommandLine line;
  if (auto code = parse_record(argc, argv, &line)) return *code;
  if (line.options.top != 0 && !ends_with(line.options.top)) return kExitFailed;
  if (line.quiet) be_quiet();
  if (line.verbose) be_verbose();
  raise_descriptor_limit();
  return line.options.command.empty() ? record_running(std::move(line.options))
                                      : record_command(std::move(line.options));
}

}  // namespace pctally
