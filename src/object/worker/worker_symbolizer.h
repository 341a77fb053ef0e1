// Names of a file that neither root nor the caller owns. It is not parsed here: a forked process without
// rights does that (confinement.h), and what it says is checked. If it cannot start, or ends, names are
// missing, and problem() says so.
//
// The same process reads debug information that came from a server, beside an object of anybody's.
//
//  1. The worker opens nothing. It asks for each file by its path. It gets a descriptor of the object, of
//     what root owns and everybody may read, and of what the object's owner owns, if that
//     is neither root nor the caller. What was fetched it gets, too.
//  2. What it may use is bounded: memory, CPU time, files, and the time until it answers.
//  3. A worker that was taken over can lie about the names of its object, and nothing else.
#pragma once
#include <sys/types.h>

#include "base/unique_fd.h"
#include "object/symbolizer.h"
#include "object/worker/message.h"

namespace pctally {

class WorkerSymbolizer : public Symbolizer {
 public:
  /// `fetched`: a file with debug information that came from a server; empty if there is none.
  explicit WorkerSymbolizer(ExecutableIdentity identity, std::string fetched = "");
  WorkerSymbolizer(const WorkerSymbolizer&) = delete;
  WorkerSymbolizer& operator=(const WorkerSymbolizer&) = delete;
  ~WorkerSymbolizer() override { end(); }

  [[nodiscard]] const std::string& object_name() const override { return object_name_; }
  [[nodiscard]] const std::string& problem() const override { return problem_; }
  [[nodiscard]] const std::string& line_problem() const override { return line_problem_; }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override;
  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override;
  CodeBytes code(uint64_t start, uint64_t end) override;
  SourceDigests digests(std::span<const uint64_t> positions) override;
  std::optional<uint64_t> position(uint64_t address) override;
  [[nodiscard]] std::optional<uid_t> owner() const override;

 private:
  void start();
  std::optional<MessageReader> ask(const MessageWriter& request);
  std::optional<MessageReader> next_answer();
  bool send_file(const std::string& path);
  bool may_have(const std::string& path, uid_t owner, mode_t mode);
  void lose();
  void end();

  ExecutableIdentity identity_;
  std::string fetched_;
  std::string object_name_;
  std::string problem_, line_problem_;
  pid_t worker_ = -1;
  UniqueFd socket_;
  unsigned files_ = 0;                    ///< that the worker has asked for
  uid_t owner_ = static_cast<uid_t>(-1);  ///< of the object; -1: not known yet
};

}  // namespace pctally
