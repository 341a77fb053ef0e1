// Names of an executable from itself and this machine, and then from debug information that a server has
// sent. That file is not trusted, whoever owns the executable: a worker reads it.
#pragma once
#include <memory>

#include "object/debuginfod.h"
#include "object/symbolizer.h"
#include "object/worker/worker_symbolizer.h"

namespace pctally {

class FetchedSymbolizer : public Symbolizer {
 public:
  /// `servers` outlive this. They are asked when names or lines are missing, once.
  FetchedSymbolizer(ExecutableIdentity identity, Debuginfod& servers)
      : identity_(std::move(identity)), here_(Symbolizer::open(identity_)), servers_(servers) {}

  [[nodiscard]] const std::string& object_name() const override { return here_->object_name(); }
  [[nodiscard]] const std::string& problem() const override;
  [[nodiscard]] const std::string& line_problem() const override;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override;
  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override {
    return fetched_ ? fetched_->aliases(starts) : here_->aliases(starts);
  }
  SourceDigests digests(std::span<const uint64_t> positions) override;
  CodeBytes code(uint64_t start, uint64_t end) override { return here_->code(start, end); }
  std::optional<uint64_t> position(uint64_t address) override { return here_->position(address); }
  [[nodiscard]] std::optional<uid_t> owner() const override {
    return fetched_ ? std::nullopt : here_->owner();
  }

 private:
  bool fetch(const std::string& missing, std::string* problem);

  ExecutableIdentity identity_;
  std::unique_ptr<Symbolizer> here_;
  Debuginfod& servers_;
  bool asked_ = false;
  std::unique_ptr<WorkerSymbolizer> fetched_;
  std::string failure_;                 ///< of the servers
  std::string problem_, line_problem_;  ///< of what is missing although they were asked
};

}  // namespace pctally
