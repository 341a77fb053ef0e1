#include "tool/top/view.h"

#include <algorithm>

#include "histfile/profile_file.h"
#include "histread/snapshot.h"
#include "profile/command.h"
#include "profile/load.h"
#include "report/scope_names.h"
#include "tool/load_profiles.h"
#include "tool/snapshot.h"

namespace pctally {
namespace {

std::string listed(const std::vector<CallerRow>& rows, bool has_all, NameStyle style) {
  const std::string text = callers_line(rows, style);
  if (!has_all) return text + (text.empty() ? "" : "; ") + "others found no room";
  return text.empty() ? "nothing in this window" : text;
}

}  // namespace

TopView::TopView(LiveFile file, std::string path, uint64_t window_ns)
    : file_(std::move(file)), path_(std::move(path)), history_(window_ns), names_(&open_symbolizer) {}

void TopView::refresh() {
  if (final_) return;
  Result<FileCopy> copy = file_.copy();
  if (!copy) {
    message_ = path_ + ": " + copy.error().text;
    return;
  }
  history_.add(load_profile(std::move(*copy)), monotonic_ns());
  const Profile& latest = history_.latest();
  final_ = latest.closed || !latest.recorder_alive;
  paths_.reset();
  table_.reset();
}

void TopView::write() {
  Result<FileCopy> copy = file_.copy();
  std::string name = snapshot_name(path_);
  Result<void> written, named;
  if (copy) {
    close_copy(&*copy);
    named = copy_names(file_, &*copy);
    written = write_snapshot(*copy, file_, name.c_str(), false);
  }
  if (!copy || !written)
    message_ = "no snapshot: " + std::string(copy ? written.error().text : copy.error().text);
  else
    message_ = "wrote " + name + (named ? "" : " without its damaged names") + "; next: pctally report " +
               file_word(name);
}

std::optional<Grouping> TopView::scopes() const {
  if (empty()) return std::nullopt;
  for (Grouping by : {Grouping::kThread, Grouping::kProgram, Grouping::kGroup})
    if (has_scopes_for(history_.latest().paths, by)) return by;
  return std::nullopt;
}

std::string TopView::word(const TopState& state) const {
  const Profile& latest = history_.latest();
  if (latest.closed) return latest.snapshot ? "a snapshot" : "finished recording";
  if (!latest.recorder_alive) return "recorder killed";
  return state.frozen ? "frozen" : "recording";
}

std::vector<std::string> TopView::callers_of_row(size_t row, NameStyle style) {
  if (table_->by != Grouping::kFunction || row >= table_->rows.size()) return {"", ""};
  ObjectNames objects(table_->window,
                      [this](const ExecutableIdentity& identity) { return names_.open(identity); });
  if (!paths_) paths_.emplace(table_->window, objects, NamedPaths::Detail::kFunctions);
  const Row& chosen = table_->rows[row].all;
  const StackFrame function = paths_->function(chosen.object, chosen.function, chosen.address);
  const Callers callers = callers_of(table_->window, *paths_, function);
  return {"called by  " + listed(callers.callers, callers.has_all_calls, style),
          "calls      " + listed(callers.callees, callers.has_all_calls, style)};
}

std::vector<LiveLine> TopView::lines(const TopState& state, LiveTextOptions options) {
  if (!table_ || made_for_.by != state.by || made_for_.filter != state.filter) {
    made_for_ = {.by = state.by, .filter = state.filter};
    paths_.reset();
    table_ = make_live_table(history_, names_, made_for_);
  }
  options.first = state.first;
  options.filter = state.filter;
  options.state = word(state);
  options.message = message_;
  if (state.choosing) {
    options.selected = std::min(state.chosen, rows() == 0 ? 0 : rows() - 1);
    options.beneath = callers_of_row(options.selected, options.names);
  }
  return live_text(history_.latest(), *table_, options);
}

}  // namespace pctally
