#include "tool/top/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/file/file_at.h"
#include "base/file/new_file.h"
#include "tool/command.h"
#include "tool/command_line.h"

namespace pctally {
namespace {

constexpr size_t kMostSaid = 4096;
constexpr int kPatienceMs = 2000;  ///< for a command to heed SIGTERM

/// True if `path` is a directory that this process may write to.
bool takes_files(const char* path) {
  struct stat status;
  return *path == '/' && stat(path, &status) == 0 && S_ISDIR(status.st_mode) && access(path, W_OK) == 0;
}

std::string temporary_place() {
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"})
    if (const char* path = getenv(name); path != nullptr && takes_files(path)) return path;
  return "/tmp";
}

constexpr char kPrefix[] = "pctally-top-";
constexpr char kFile[] = "pctally.top.pct";

/// The lock on a directory of ours, which its top holds as long as it lives; invalid if it does.
UniqueFd locked_directory(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat directory;
  const bool ours = fd.valid() && flock(fd.get(), LOCK_EX | LOCK_NB) == 0 &&
                    is_file_at(fd.get(), path.c_str()) && fstat(fd.get(), &directory) == 0 &&
                    directory.st_uid == geteuid();
  return ours ? std::move(fd) : UniqueFd();
}

void remove_directory(const std::string& path) {
  const std::string file = path + "/" + kFile;
  char part[PATH_MAX];
  if (part_name(file.c_str(), &part)) unlink(part);
  unlink(file.c_str());
  rmdir(path.c_str());
}

/// What tops left that were killed.
void remove_left_overs(const std::string& place) {
  DIR* directory = opendir(place.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    if (strncmp(entry->d_name, kPrefix, strlen(kPrefix)) != 0) continue;
    const std::string path = place + "/" + entry->d_name;
    if (UniqueFd lock = locked_directory(path); lock.valid()) remove_directory(path);
  }
  closedir(directory);
}

/// A new directory and its lock. Before it is locked another top may take it for a left-over.
Result<std::pair<std::string, UniqueFd>> make_directory(const std::string& place) {
  for (unsigned attempt = 0; attempt < 8; ++attempt) {
    std::string path = place + "/" + kPrefix + "XXXXXX";
    if (mkdtemp(path.data()) == nullptr) break;
    if (UniqueFd lock = locked_directory(path); lock.valid()) return std::pair(path, std::move(lock));
  }
  return fail(errno, "cannot make a directory in %s: %s; set TMPDIR to a directory that you can write to",
              place.c_str(), strerror(errno));
}

[[noreturn]] void become_recorder(const std::vector<std::string>& words, int output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(strdup(word.c_str()));
  argv.push_back(nullptr);
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  let_writes_kill();
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv("/proc/self/exe", argv.data());
  dprintf(STDERR_FILENO, "pctally: cannot start the recorder: %s\n", strerror(errno));
  _exit(kExitFailed);
}

}  // namespace

TopRecorder::TopRecorder(TopRecorder&& other) noexcept
    : pid_(other.pid_),
      exit_code_(other.exit_code_),
      process_(std::move(other.process_)),
      output_(std::move(other.output_)),
      lock_(std::move(other.lock_)),
      directory_(std::move(other.directory_)),
      path_(std::move(other.path_)),
      said_(std::move(other.said_)) {
  other.pid_ = -1;
  other.directory_.clear();
}

Result<TopRecorder> TopRecorder::start(const std::vector<std::string>& words) {
  TopRecorder recorder;
  const std::string place = temporary_place();
  remove_left_overs(place);
  auto made = make_directory(place);
  if (!made) return std::unexpected(made.error());
  recorder.directory_ = made->first;
  recorder.lock_ = std::move(made->second);
  recorder.path_ = recorder.directory_ + "/" + kFile;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(errno, "pipe: %s", strerror(errno));
  recorder.output_.reset(ends[0]);
  UniqueFd output(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::vector<std::string> all = {
      "pctally", "record", "-q", "-o", recorder.path_, "--for-top", std::to_string(getpid())};
  all.insert(all.end(), words.begin(), words.end());
  recorder.pid_ = fork();
  if (recorder.pid_ < 0) return fail(errno, "fork: %s", strerror(errno));
  if (recorder.pid_ == 0) become_recorder(all, output.get());
  recorder.process_.reset(static_cast<int>(syscall(SYS_pidfd_open, recorder.pid_, 0)));
  return recorder;
}

bool TopRecorder::listen() {
  char chunk[4096];
  ssize_t bytes;
  while ((bytes = read(output_.get(), chunk, sizeof chunk)) > 0) {
    said_.append(chunk, static_cast<size_t>(bytes));
    if (said_.size() > kMostSaid) said_.erase(0, said_.size() - kMostSaid);
  }
  return bytes < 0 && (errno == EAGAIN || errno == EINTR);
}

int TopRecorder::exit_code() {
  int status = 0;
  if (pid_ > 0 && exit_code_ < 0 && waitpid(pid_, &status, WNOHANG) == pid_)
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

TopRecorder::~TopRecorder() {
  if (pid_ > 0 && exit_code() < 0) {
    kill(pid_, SIGTERM);
    pollfd end = {process_.get(), POLLIN, 0};
    if (poll(&end, 1, kPatienceMs) != 1) kill(pid_, SIGKILL);
    if (exit_code_ < 0) waitpid(pid_, nullptr, 0);
  }
  if (directory_.empty()) return;
  remove_directory(directory_);
}

}  // namespace pctally
