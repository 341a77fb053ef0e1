#include "tool/top/view.h"

#include "histfile/profile_file.h"
#include "histread/snapshot.h"
#include "profile/load.h"
#include "tool/snapshot.h"

namespace pctally {

TopView::TopView(LiveFile file, std::string path, uint64_t window_ns)
    : file_(std::move(file)), path_(std::move(path)), history_(window_ns), names_(&Symbolizer::open) {}

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
  table_.reset();
}

void TopView::write() {
  Result<FileCopy> copy = file_.copy();
  std::string name = snapshot_name(path_);
  Result<void> written;
  if (copy) {
    close_copy(&*copy);
    written = write_snapshot(*copy, file_, name.c_str(), false);
  }
  if (!copy || !written)
    message_ = "no snapshot: " + std::string(copy ? written.error().text : copy.error().text);
  else
    message_ = "wrote " + name + "; next: pctally report " + name;
}

std::string TopView::word(const TopState& state) const {
  const Profile& latest = history_.latest();
  if (latest.closed) return latest.snapshot ? "a snapshot" : "finished recording";
  if (!latest.recorder_alive) return "recorder killed";
  return state.frozen ? "frozen" : "recording";
}

std::vector<LiveLine> TopView::lines(const TopState& state, LiveTextOptions options) {
  if (!table_ || made_for_.by != state.by || made_for_.filter != state.filter) {
    made_for_ = {.by = state.by, .filter = state.filter};
    table_ = make_live_table(history_, names_, made_for_);
  }
  options.first = state.first;
  options.filter = state.filter;
  options.state = word(state);
  options.message = message_;
  return live_text(history_.latest(), *table_, options);
}

}  // namespace pctally
