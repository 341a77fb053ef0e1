#include "object/symbolizer.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <functional>
#include <optional>
#include <variant>

#include "base/kernel/vdso_path.h"
#include "object/jit_dump.h"
#include "object/kernel/kernel_symbol_epoch.h"
#include "object/kernel/kernel_symbols.h"
#include "object/object_symbolizer.h"
#include "object/perf_map.h"
#include "object/vdso.h"
#include "object/worker/worker_symbolizer.h"

namespace pctally {
namespace {

/// Names by a table of runtime addresses, read when the first is asked for. A table may have lines, too.
template <class Table>
class TableSymbolizer : public Symbolizer {
 public:
  using Load = std::function<Result<Table>()>;
  TableSymbolizer(std::string object_name, Load load)
      : object_name_(std::move(object_name)), load_(std::move(load)) {}
  [[nodiscard]] const std::string& object_name() const override { return object_name_; }
  [[nodiscard]] const std::string& problem() const override { return problem_; }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    if (Table* table = loaded()) return table->name(positions);
    return std::vector<NamedRange>(positions.size(), {object_name_, 0, UINT64_MAX});
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    if constexpr (requires(const Table& table) { table.frames(positions); })
      if (Table* table = loaded()) return table->frames(positions);
    return {};
  }
  CodeBytes code(uint64_t start, uint64_t end) override {
    if constexpr (requires(const Table& table) { table.code(start, end); })
      if (Table* table = loaded()) return table->code(start, end);
    return {};
  }

 private:
  /// Null if it cannot be read.
  Table* loaded() {
    if (!table_) table_.emplace(load_());
    if (*table_) return &**table_;
    problem_ = table_->error().text;
    return nullptr;
  }

  std::string object_name_;
  Load load_;
  std::optional<Result<Table>> table_;
  std::string problem_;
};

/// Keeps the promise that nothing is thrown: damaged files can ask for more memory than there is.
class GuardedSymbolizer : public Symbolizer {
 public:
  explicit GuardedSymbolizer(std::unique_ptr<Symbolizer> inner) : inner_(std::move(inner)) {}
  [[nodiscard]] const std::string& object_name() const override { return inner_->object_name(); }
  [[nodiscard]] const std::string& problem() const override {
    return problem_.empty() ? inner_->problem() : problem_;
  }
  [[nodiscard]] const std::string& line_problem() const override {
    return line_problem_.empty() ? inner_->line_problem() : line_problem_;
  }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override try {
    return inner_->name(positions);
  } catch (const std::exception& error) {
    problem_ = std::string("the names cannot be read: ") + error.what();
    return std::vector<NamedRange>(positions.size(), {object_name(), 0, UINT64_MAX});
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override try {
    return inner_->frames(positions);
  } catch (const std::exception& error) {
    line_problem_ = std::string("debug information cannot be read: ") + error.what();
    return {};
  }
  [[nodiscard]] bool has_other_names() override try {
    return inner_->has_other_names();
  } catch (const std::exception&) {
    return true;  // name() says the reason
  }
  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override try {
    return inner_->aliases(starts);
  } catch (const std::exception& error) {
    problem_ = std::string("the names cannot be read: ") + error.what();
    return {};
  }

  CodeBytes code(uint64_t start, uint64_t end) override try {
    return inner_->code(start, end);
  } catch (const std::exception& error) {
    problem_ = std::string("the code cannot be read: ") + error.what();
    return {};
  }
  SourceDigests digests(std::span<const uint64_t> positions) override try {
    return inner_->digests(positions);
  } catch (const std::exception& error) {
    line_problem_ = std::string("debug information cannot be read: ") + error.what();
    return {};
  }
  std::optional<uint64_t> position(uint64_t address) override { return inner_->position(address); }
  [[nodiscard]] std::optional<uid_t> owner() const override { return inner_->owner(); }

 private:
  std::unique_ptr<Symbolizer> inner_;
  std::string problem_, line_problem_;
};

/// "[reason]" stands for the object and for its one function.
std::unique_ptr<Symbolizer> open_unknown(const std::string& reason) {
  return std::make_unique<ObjectSymbolizer>(reason, reason.substr(1, reason.size() - 2), nullptr, "",
                                            DebugFinder());
}

std::unique_ptr<Symbolizer> open_file(const ExecutableIdentity& identity) {
  if (is_unknown_object(identity)) return open_unknown(identity.path);
  if (auto names = open_executable(identity, Trust::kRootOrOurselves)) return names;
  return std::make_unique<WorkerSymbolizer>(identity);
}

std::unique_ptr<Symbolizer> open_vdso(const ExecutableIdentity& identity) {
  auto image = own_vdso();
  std::string problem;
  std::unique_ptr<ElfFile> file;
  if (!image) {
    problem = image.error().text;
  } else if ((identity.path == kVdso32Path) == image->is_64_bit()) {
    problem = image->is_64_bit()
                  ? "the vdso of 32-bit programs is not here (this pctally is a 64-bit program)"
                  : "the vdso of 64-bit programs is not here (this pctally is a 32-bit program)";
  } else if (identity.build_id.empty() && !is_this_boot(identity.boot_id)) {
    problem = "recorded in another boot or on another machine: its vdso is not here";
  } else if (!identity.build_id.empty() && !std::ranges::equal(image->build_id(), identity.build_id)) {
    problem = "recorded under another kernel: its vdso is not here";
  } else {
    file = std::make_unique<ElfFile>(std::move(*image));
  }
  const std::string name = object_name_of(identity);
  return std::make_unique<ObjectSymbolizer>(name, name.substr(1, name.size() - 2), std::move(file), problem,
                                            DebugFinder());
}

std::unique_ptr<Symbolizer> open_kernel(const ExecutableIdentity& identity) {
  return std::make_unique<TableSymbolizer<KernelSymbols>>(
      object_name_of(identity), [boot = identity.boot_id] { return KernelSymbols::load(boot); });
}

/// Names of code made at run time, as its runtime has written them.
class JitNames {
 public:
  explicit JitNames(PerfMap map) : table_(std::move(map)) {}
  explicit JitNames(JitDump dump) : table_(std::move(dump)) {}
  [[nodiscard]] std::vector<NamedRange> name(std::span<const uint64_t> addresses) const {
    return std::visit([addresses](const auto& table) { return table.name(addresses); }, table_);
  }
  [[nodiscard]] std::vector<std::vector<Frame>> frames(std::span<const uint64_t> addresses) const {
    const auto* dump = std::get_if<JitDump>(&table_);
    return dump != nullptr ? dump->frames(addresses) : std::vector<std::vector<Frame>>(addresses.size());
  }
  [[nodiscard]] CodeBytes code(uint64_t start, uint64_t end) const {
    const auto* dump = std::get_if<JitDump>(&table_);
    return dump != nullptr ? dump->code(start, end) : CodeBytes{};
  }

 private:
  std::variant<PerfMap, JitDump> table_;
};

Result<JitNames> with_map(Result<PerfMap> map) {
  if (!map) return std::unexpected(map.error());
  return JitNames(std::move(*map));
}

/// `path`: of what the recorder holds, a jitdump or a perf map.
Result<JitNames> read_held(const std::string& path, uint64_t started_unix_ns) {
  auto dump = JitDump::read(path, started_unix_ns);
  if (dump) return JitNames(std::move(*dump));
  if (dump.error().code != ENOEXEC) return std::unexpected(dump.error());
  return with_map(PerfMap::read(path, started_unix_ns));
}

std::unique_ptr<Symbolizer> open_private(const ExecutableIdentity& identity) {
  return std::make_unique<TableSymbolizer<JitNames>>(
      object_name_of(identity),
      [path = identity.path, pid = identity.owner, started = identity.time_unix_ns,
       boot = identity.boot_id]() -> Result<JitNames> {
        if (!boot.empty() && !is_this_boot(boot))
          return fail(ESTALE, "recorded in another boot or on another machine: its perf map is not here");
        if (path.starts_with(kHeldPlace)) return read_held(path, started);
        return with_map(PerfMap::open(pid, "/tmp", started));
      });
}

std::unique_ptr<Symbolizer> open_kind(const ExecutableIdentity& identity) {
  switch (identity.kind) {
    case ExecutableIdentity::Kind::kVdso:
      return open_vdso(identity);
    case ExecutableIdentity::Kind::kKernel:
      return open_kernel(identity);
    case ExecutableIdentity::Kind::kPrivate:
      return open_private(identity);
    case ExecutableIdentity::Kind::kStart:
      return std::make_unique<ObjectSymbolizer>(object_name_of(identity), "process start", nullptr, "",
                                                DebugFinder());
    case ExecutableIdentity::Kind::kFile:
      break;
  }
  return open_file(identity);
}

/// Stands for an object that cannot be read.
std::unique_ptr<Symbolizer> unreadable(const ExecutableIdentity& identity, const char* why) {
  const std::string name = object_name_of(identity);
  return std::make_unique<ObjectSymbolizer>(name, name, nullptr, why, DebugFinder());
}

}  // namespace

std::unique_ptr<Symbolizer> Symbolizer::open(const ExecutableIdentity& identity) {
  try {
    return std::make_unique<GuardedSymbolizer>(open_kind(identity));
  } catch (const std::exception& error) {
    return std::make_unique<GuardedSymbolizer>(unreadable(identity, error.what()));
  }
}

}  // namespace pctally
