#include "object/worker/symbol_worker.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "object/elf/regular_file.h"
#include "object/object_symbolizer.h"
#include "object/worker/confinement.h"
#include "object/worker/message.h"

namespace pctally {
namespace {

int g_socket = -1;

/// The report opens files for us.
Result<UniqueFd> ask_for_file(const std::string& path, struct stat*, LastLink) {
  MessageWriter request(WorkerWord::kOpen);
  request.text(path);
  if (!send_message(g_socket, request)) _exit(1);
  auto answer = receive_message(g_socket, -1);
  if (!answer || answer->number() != static_cast<uint64_t>(WorkerWord::kFile)) _exit(1);
  const auto error = static_cast<int>(answer->number());
  if (answer->descriptor.valid()) return std::move(answer->descriptor);
  return fail(error, "cannot open %s: %s", path.c_str(), strerror(error));
}

void write_names(Symbolizer& names, std::span<const uint64_t> positions, MessageWriter* answer) {
  for (const NamedRange& range : names.name(positions)) {
    answer->text(range.function);
    answer->number(range.start);
    answer->number(range.end);
    answer->text(range.linkage);
    answer->number(range.address);
  }
}

void write_frames(Symbolizer& names, std::span<const uint64_t> positions, MessageWriter* answer) {
  for (const std::vector<Frame>& frames : names.frames(positions)) {
    answer->number(frames.size());
    for (const Frame& frame : frames) {
      answer->text(frame.function);
      answer->text(frame.file);
      answer->number(frame.line);
      answer->text(frame.linkage);
      answer->number(frame.start_line);
    }
  }
}

void write_aliases(Symbolizer& names, std::span<const uint64_t> starts, MessageWriter* answer) {
  for (const std::vector<SymbolName>& aliases : names.aliases(starts)) {
    answer->number(aliases.size());
    for (const SymbolName& alias : aliases) {
      answer->text(alias.function);
      answer->text(alias.linkage);
    }
  }
}

void write_code(Symbolizer& names, std::span<const uint64_t> places, MessageWriter* answer) {
  const CodeBytes code = names.code(places[0], places[1]);
  answer->number(code.address);
  answer->number(code.machine);
  answer->number(code.changed_unix_ns);
  answer->text({reinterpret_cast<const char*>(code.bytes.data()), code.bytes.size()});
}

void write_digests(Symbolizer& names, std::span<const uint64_t> positions, MessageWriter* answer) {
  const SourceDigests digests = names.digests(positions);
  answer->number(digests.size());
  for (const auto& [path, digest] : digests) {
    answer->text(path);
    answer->text({reinterpret_cast<const char*>(digest.data()), digest.size()});
  }
}

void write_position(Symbolizer& names, uint64_t address, MessageWriter* answer) {
  const auto position = names.position(address);
  answer->number(position ? 1 : 0);
  answer->number(position.value_or(0));
}

bool send_answer(const Symbolizer& names, const MessageWriter& body) {
  MessageWriter message(WorkerWord::kAnswer);
  message.text(names.problem());
  message.text(names.line_problem());
  message.append(body);
  return send_message(g_socket, message);
}

bool answer(Symbolizer& names, MessageReader& request) {
  MessageWriter body;
  const auto word = static_cast<WorkerWord>(request.number());
  const std::vector<uint64_t> numbers = request.numbers();
  if (word == WorkerWord::kName) write_names(names, numbers, &body);
  if (word == WorkerWord::kFrames) write_frames(names, numbers, &body);
  if (word == WorkerWord::kAliases) write_aliases(names, numbers, &body);
  if (word == WorkerWord::kCode && numbers.size() == 2) write_code(names, numbers, &body);
  if (word == WorkerWord::kDigests) write_digests(names, numbers, &body);
  if (word == WorkerWord::kPosition && numbers.size() == 1) write_position(names, numbers[0], &body);
  return send_answer(names, body);
}

void serve(const ExecutableIdentity& identity, const std::string& fetched) {
  set_file_opener(ask_for_file);
  const std::unique_ptr<Symbolizer> names = open_executable(identity, Trust::kAnybody, fetched);
  if (!send_answer(*names, {})) return;
  while (auto request = receive_message(g_socket, -1))
    if (!answer(*names, *request)) return;
}

}  // namespace

void serve_names(int socket, const ExecutableIdentity& identity, const std::string& fetched) noexcept {
  g_socket = socket;
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_IGN);  // the report decides
  if (!confine(socket)) _exit(2);
  try {
    serve(identity, fetched);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

}  // namespace pctally
