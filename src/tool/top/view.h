// One recording as top sees it: the file kept open, the copies of the window, and what to say about them.
#pragma once
#include <optional>

#include "histread/live_file.h"
#include "report/live/live_text.h"
#include "report/paths/callers.h"
#include "tool/top/keys.h"

namespace pctally {

class TopView {
 public:
  TopView(LiveFile file, std::string path, uint64_t window_ns);

  /// Reads the file again. A file that cannot be read any more leaves the last table and a message.
  void refresh();

  /// True once nothing will change any more: closed, or left by its recorder.
  [[nodiscard]] bool final() const { return final_; }
  [[nodiscard]] bool empty() const { return history_.empty(); }
  [[nodiscard]] size_t rows() const { return table_ ? table_->rows.size() : 0; }

  /// A snapshot file in the current directory; the message says its name, or what went wrong.
  void write();
  void say(std::string message) { message_ = std::move(message); }

  /// True if there are callers to show of a row: the recording has call paths.
  [[nodiscard]] bool has_paths() const { return !empty() && history_.latest().paths.recorded; }

  /// By what the recording keeps ticks apart, if it does.
  [[nodiscard]] std::optional<Grouping> scopes() const;

  /// The table as lines; `options` get state, filter and message from here. REQUIRES: !empty().
  std::vector<LiveLine> lines(const TopState& state, LiveTextOptions options);

 private:
  [[nodiscard]] std::string word(const TopState& state) const;
  std::vector<std::string> callers_of_row(size_t row, NameStyle style);

  LiveFile file_;
  std::string path_;
  LiveHistory history_;
  NameCache names_;
  std::optional<LiveTable> table_;
  std::optional<NamedPaths> paths_;  ///< of the table's window; goes before it
  LiveOptions made_for_;
  std::string message_;
  bool final_ = false;
};

}  // namespace pctally
