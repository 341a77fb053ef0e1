#include "object/worker/worker_symbolizer.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "object/elf/regular_file.h"
#include "object/worker/symbol_worker.h"

namespace pctally {
namespace {

constexpr int kPatienceMs = 30'000;
constexpr unsigned kMostWorkers = 64;  ///< at a time
constexpr unsigned kMostFiles = 64;
constexpr size_t kLongestText = 1 << 16;
constexpr char kLost[] = "another user's file, and the process that reads such failed (report as that user)";
constexpr char kLostFetched[] = "what debuginfod sent cannot be read: the process that reads it failed";

unsigned g_workers = 0;

std::string short_text(MessageReader& message) {
  std::string text = message.text();
  if (text.size() > kLongestText) text.resize(kLongestText);
  return text;
}

NamedRange read_range(MessageReader& message) {
  NamedRange range;
  range.function = short_text(message);
  range.start = message.number();
  range.end = message.number();
  range.linkage = short_text(message);
  range.address = message.number();
  return range;
}

Frame read_frame(MessageReader& message) {
  Frame frame;
  frame.function = short_text(message);
  frame.file = short_text(message);
  frame.line = static_cast<uint32_t>(message.number());
  frame.linkage = short_text(message);
  frame.start_line = static_cast<uint32_t>(message.number());
  return frame;
}

MessageWriter request(WorkerWord word, std::span<const uint64_t> numbers) {
  MessageWriter message(word);
  message.numbers(numbers);
  return message;
}

}  // namespace

WorkerSymbolizer::WorkerSymbolizer(ExecutableIdentity identity, std::string fetched)
    : identity_(std::move(identity)), fetched_(std::move(fetched)), object_name_(object_name_of(identity_)) {
  start();
}

void WorkerSymbolizer::start() {
  if (g_workers >= kMostWorkers) return lose();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return lose();
  socket_ = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  worker_ = fork();
  if (worker_ == 0) serve_names(theirs.get(), identity_, fetched_);
  theirs.reset();
  if (worker_ > 0) ++g_workers;
  if (worker_ < 0 || !next_answer()) lose();
}

/// Whatever the worker asks for meanwhile is sent.
std::optional<MessageReader> WorkerSymbolizer::next_answer() {
  for (;;) {
    auto message = receive_message(socket_.get(), kPatienceMs);
    if (!message) return {};
    const auto word = static_cast<WorkerWord>(message->number());
    std::string text = short_text(*message);
    if (message->damaged()) return {};
    if (word == WorkerWord::kAnswer) {
      problem_ = std::move(text);
      line_problem_ = short_text(*message);
      if (message->damaged()) return {};
      return message;
    }
    if (word != WorkerWord::kOpen || !send_file(text)) return {};
  }
}

/// The first file it asks for is the object. That may be another by now, but not one of root or the caller,
/// unless it is theirs that something was fetched for.
bool WorkerSymbolizer::may_have(const std::string& path, uid_t owner, mode_t mode) {
  const bool of_other_user = owner != 0 && owner != geteuid();
  if (!fetched_.empty() && path == fetched_) return true;
  if (files_ > 1) return (of_other_user && owner == owner_) || (owner == 0 && (mode & S_IROTH) != 0);
  owner_ = owner;
  return identity_.path.starts_with(path) && (of_other_user || !fetched_.empty());
}

bool WorkerSymbolizer::send_file(const std::string& path) {
  if (++files_ > kMostFiles) return false;
  struct stat status;
  auto fd = open_regular(path, &status);
  if (fd && !may_have(path, status.st_uid, status.st_mode)) fd = fail(EACCES, "not for a worker");
  MessageWriter message(WorkerWord::kFile);
  message.number(fd ? 0 : static_cast<uint64_t>(fd.error().code));
  return send_message(socket_.get(), message, fd ? fd->get() : -1);
}

std::optional<uid_t> WorkerSymbolizer::owner() const {
  const bool is_other_users = owner_ != static_cast<uid_t>(-1) && owner_ != 0 && owner_ != geteuid();
  return is_other_users && fetched_.empty() ? std::optional(owner_) : std::nullopt;
}

std::optional<MessageReader> WorkerSymbolizer::ask(const MessageWriter& request) {
  if (!socket_.valid()) return {};
  std::optional<MessageReader> answer;
  if (send_message(socket_.get(), request)) answer = next_answer();
  if (!answer) lose();
  return answer;
}

std::vector<NamedRange> WorkerSymbolizer::find_names(std::span<const uint64_t> positions) {
  std::vector<NamedRange> result;
  if (auto answer = ask(request(WorkerWord::kName, positions))) {
    for (size_t i = 0; i < positions.size(); ++i) {
      result.push_back(read_range(*answer));
      if (result.back().start > positions[i] || result.back().end <= positions[i]) lose();
    }
    if (answer->damaged()) lose();
  }
  if (!socket_.valid()) result.assign(positions.size(), {"[" + object_name_ + "]", 0, UINT64_MAX});
  return result;
}

std::vector<std::vector<Frame>> WorkerSymbolizer::find_frames(std::span<const uint64_t> positions) {
  std::vector<std::vector<Frame>> result(positions.size());
  auto answer = ask(request(WorkerWord::kFrames, positions));
  if (!answer) return result;
  for (std::vector<Frame>& frames : result)
    for (uint64_t left = answer->number(); left > 0 && !answer->damaged(); --left)
      frames.push_back(read_frame(*answer));
  if (!answer->damaged()) return result;
  lose();
  return {};
}

std::vector<std::vector<SymbolName>> WorkerSymbolizer::find_aliases(std::span<const uint64_t> starts) {
  std::vector<std::vector<SymbolName>> result(starts.size());
  auto answer = ask(request(WorkerWord::kAliases, starts));
  if (!answer) return result;
  for (std::vector<SymbolName>& names : result)
    for (uint64_t left = answer->number(); left > 0 && !answer->damaged(); --left) {
      std::string function = short_text(*answer);
      names.push_back({std::move(function), short_text(*answer)});
    }
  if (!answer->damaged()) return result;
  lose();
  return {};
}

CodeBytes WorkerSymbolizer::code(uint64_t start, uint64_t end) {
  const uint64_t places[] = {start, end};
  auto answer = ask(request(WorkerWord::kCode, places));
  CodeBytes code;
  if (!answer) return code;
  code.address = answer->number();
  code.machine = static_cast<uint16_t>(answer->number());
  code.changed_unix_ns = answer->number();
  const std::string bytes = answer->text();
  if (answer->damaged() || bytes.size() > end - start) return {};
  code.bytes.assign(bytes.begin(), bytes.end());
  return code;
}

SourceDigests WorkerSymbolizer::digests(std::span<const uint64_t> positions) {
  auto answer = ask(request(WorkerWord::kDigests, positions));
  SourceDigests digests;
  if (!answer) return digests;
  for (uint64_t left = answer->number(); left > 0 && !answer->damaged(); --left) {
    std::string path = short_text(*answer);
    const std::string bytes = answer->text();
    Md5 digest{};
    if (bytes.size() != digest.size()) break;
    std::ranges::copy(bytes, digest.begin());
    digests.emplace(std::move(path), digest);
  }
  return digests;
}

std::optional<uint64_t> WorkerSymbolizer::position(uint64_t address) {
  const uint64_t places[] = {address};
  auto answer = ask(request(WorkerWord::kPosition, places));
  const bool known = answer && answer->number() != 0;
  const uint64_t position = known ? answer->number() : 0;
  return known && !answer->damaged() ? std::optional(position) : std::nullopt;
}

void WorkerSymbolizer::lose() {
  end();
  problem_ = fetched_.empty() ? kLost : kLostFetched;
}

void WorkerSymbolizer::end() {
  socket_.reset();
  if (worker_ <= 0) return;
  kill(worker_, SIGKILL);
  while (waitpid(worker_, nullptr, 0) < 0 && errno == EINTR) {
  }
  worker_ = -1;
  --g_workers;
}

}  // namespace pctally
