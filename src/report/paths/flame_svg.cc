#include "report/paths/flame_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/account/account.h"
#include "report/print/escape.h"
#include "report/statistics/interval.h"

namespace pctally {
namespace {

constexpr double kWidth = 1200, kRow = 17, kTop = 26, kSide = 8, kLetter = 6.3;
constexpr double kNarrowest = 1;  ///< pixels
constexpr size_t kDeepest = 400;  ///< rows; a deeper picture is no longer one

constexpr char kStyle[] =
    "<style>"
    "svg{background:#fff;font:11px ui-monospace,Menlo,Consolas,monospace}text{fill:#1d2430}"
    "rect{stroke:#fff;stroke-width:.6}.k rect{fill:#d9c3a0}.c "
    "rect{fill:#d0d4da}.h{font-weight:bold}.s{fill:#5b6472}"
    ".f0 rect{fill:#9cc3ea}.f1 rect{fill:#f2b27e}.f2 rect{fill:#9ed3b6}.f3 rect{fill:#e3b1d5}.f4 "
    "rect{fill:#dfd189}"
    ".f5 rect{fill:#9fd0dd}"
    "@media(prefers-color-scheme:dark){svg{background:#14181f}text{fill:#e8ecf2}rect{stroke:#14181f}.s{fill:#"
    "98a2b3}"
    ".k rect{fill:#6d5936}.c rect{fill:#3d4450}.f0 rect{fill:#2f5f93}.f1 rect{fill:#8f5321}.f2 "
    "rect{fill:#2c6b4c}"
    ".f3 rect{fill:#7c4370}.f4 rect{fill:#6f6322}.f5 rect{fill:#266676}}"
    "</style>\n";
constexpr size_t kColors = 6;

class FlameSvg {
 public:
  FlameSvg(const Profile& profile, const FlameSvgOptions& options)
      : profile_(profile),
        options_(options),
        all_(static_cast<double>(std::max<uint64_t>(profile.ledger.ticks(), 1))),
        samples_(account_of(profile).effective_samples) {}

  std::string run(const CallTreeNode& tree) {
    add_children(tree, 0, 0);
    const double bottom = kTop + kRow * static_cast<double>(rows_);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\" "
        "role=\"img\" aria-label=\"flame graph\">\n{2}<text class=\"h\" x=\"{3:g}\" y=\"17\">{4}</text>\n{5}"
        "<text class=\"s\" x=\"{3:g}\" y=\"{6:g}\">{7}</text>\n</svg>\n",
        kWidth + 2 * kSide, bottom + 22, kStyle, kSide, marked_up(escaped(options_.title)), out_, bottom + 14,
        foot());
  }

 private:
  [[nodiscard]] double share(uint64_t ticks) const { return static_cast<double>(ticks) / all_; }

  [[nodiscard]] std::string foot() const {
    return fmt::format(
        "{}; width: part of all ticks{}{}",
        options_.bottom_up ? "what ran is at the top, its callers below" : "callers above, callees below",
        left_out(too_narrow_, "in frames too narrow to draw"),
        left_out(too_deep_, fmt::format("below the {} rows drawn", kDeepest)));
  }

  [[nodiscard]] std::string left_out(uint64_t ticks, std::string_view where) const {
    return ticks == 0 ? "" : fmt::format("; {:.2f} % {}", 100 * share(ticks), where);
  }

  /// Objects get colours in the order in which they are met; the kernel and cuts have their own.
  std::string color_of(const StackFrame& frame) {
    if (frame.object == "[kernel]") return "k";
    if (frame.function.starts_with('[') && frame.object.empty()) return "c";
    const auto [at, fresh] = colors_.try_emplace(frame.object, colors_.size());
    return fmt::format("f{}", at->second % kColors);
  }

  void add_children(const CallTreeNode& node, double left, size_t row) {
    double at = left;
    for (const CallTreeNode& child : node.children) {
      const double width = kWidth * share(child.ticks);
      if (width < kNarrowest || row >= kDeepest) {
        (width < kNarrowest ? too_narrow_ : too_deep_) += child.ticks;
        continue;
      }
      add_frame(child, at, width, row);
      add_children(child, at, row + 1);
      at += width;
    }
  }

  void add_frame(const CallTreeNode& node, double left, double width, size_t row) {
    rows_ = std::max(rows_, row + 1);
    const double x = kSide + left, y = kTop + kRow * static_cast<double>(row);
    const std::string name = escaped(name_with_object(options_.names, *node.frame));
    const Interval interval = wilson_interval(share(node.ticks), samples_);
    const std::string figure = node.inexact
                                   ? fmt::format("about {:.2f} %", 100 * share(node.ticks))
                                   : fmt::format("{:.2f} % (95 %: {:.2f} to {:.2f})", 100 * share(node.ticks),
                                                 100 * interval.low, 100 * interval.high);
    out_ += fmt::format(
        "<g class=\"{}\"><title>{}  {}\n{}, {}, {} of them in "
        "itself</title>"
        "<rect x=\"{:.2f}\" y=\"{:g}\" width=\"{:.2f}\" height=\"{:g}\" rx=\"2\"/>",
        color_of(*node.frame), marked_up(escaped(shown_name(options_.names, *node.frame))),
        marked_up(escaped(node.frame->object)), figure, counted_ticks(profile_, node.ticks),
        tick_figure(profile_, node.self), x, y, width, kRow - 1);
    const auto letters = static_cast<size_t>(std::max(0.0, (width - 6) / kLetter));
    if (letters >= 3)
      out_ += fmt::format("<text x=\"{:.2f}\" y=\"{:g}\">{}</text>", x + 3, y + 12,
                          marked_up(elided_name(name, letters)));
    out_ += "</g>\n";
  }

  const Profile& profile_;
  FlameSvgOptions options_;
  double all_, samples_;
  std::map<std::string, size_t> colors_;
  size_t rows_ = 0;
  uint64_t too_narrow_ = 0, too_deep_ = 0;  ///< ticks of frames that are not drawn
  std::string out_;
};

}  // namespace

std::string flame_svg(const Profile& profile, const CallTreeNode& tree, const FlameSvgOptions& options) {
  return FlameSvg(profile, options).run(tree);
}

}  // namespace pctally
