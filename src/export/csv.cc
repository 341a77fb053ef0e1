#include <fmt/format.h>

#include "export/formats.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

/// Quoted where a comma, a quote or a line end would divide it. A cell that a spreadsheet would take for a
/// formula gets an apostrophe in front.
std::string cell(const std::string& text) {
  std::string clean = escaped(text);
  if (!clean.empty() && std::string_view("=+-@\t\r").find(clean[0]) != std::string_view::npos)
    clean = fmt::format("'{}", clean);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string doubled;
  for (char byte : clean) doubled.append(byte == '"' ? 2 : 1, byte);
  return fmt::format("\"{}\"", doubled);
}

}  // namespace

std::string csv_export(const Profile& profile, const Samples& samples) {
  std::string out = fmt::format("object,function,file,line,position,ticks,{}\r\n",
                                profile.counts_cpu_time() ? "seconds" : "events");
  double scale = static_cast<double>(profile.period_ns) * (profile.counts_cpu_time() ? 1e-9 : 1);
  for (const Sample& sample : samples.samples) {
    const Location& place = samples.place_of(sample);
    const Frame& frame = place.frames.front();
    bool placed = place.executable != Location::kNowhere;
    out +=
        fmt::format("{},{},{},{},{},{},{:.9g}\r\n", placed ? cell(samples.objects[place.executable]) : "",
                    cell(frame.function), cell(frame.file), frame.line == 0 ? "" : std::to_string(frame.line),
                    placed && place.is_placed ? fmt::format("0x{:x}", place.position) : "", sample.ticks,
                    static_cast<double>(sample.ticks) * scale);
  }
  return out;
}

}  // namespace pctally
