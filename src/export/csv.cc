#include <fmt/format.h>

#include "export/formats.h"
#include "report/account/account.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

/// Quoted where a comma, a quote or a line end would divide it. A cell that a spreadsheet would take for a
/// formula gets an apostrophe in front.
std::string cell(const std::string& text) {
  std::string clean = escaped_whole(text);
  if (!clean.empty() && std::string_view("=+-@\t\r").find(clean[0]) != std::string_view::npos)
    clean = fmt::format("'{}", clean);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string doubled;
  for (char byte : clean) doubled.append(byte == '"' ? 2 : 1, byte);
  return fmt::format("\"{}\"", doubled);
}

/// Events are counted: no digit of them is rounded away.
std::string seconds_or_events(const Profile& profile, uint64_t ticks) {
  const int64_t number = duration_of(ticks, profile.period_ns);
  return profile.counts_cpu_time() ? fmt::format("{:.15g}", seconds(number)) : std::to_string(number);
}

}  // namespace

std::string csv_export(const Profile& profile, const Samples& samples) {
  std::string out = fmt::format("object,function,file,line,position,ticks,{}\r\n",
                                profile.counts_cpu_time() ? "seconds" : "events");
  for (const Sample& sample : samples.samples) {
    const Location& place = samples.place_of(sample);
    const Frame& frame = place.frames.front();
    bool placed = place.executable != Location::kNowhere;
    out +=
        fmt::format("{},{},{},{},{},{},{}\r\n", placed ? cell(samples.objects[place.executable]) : "",
                    cell(frame.function), cell(frame.file), frame.line == 0 ? "" : std::to_string(frame.line),
                    placed && place.is_placed ? fmt::format("0x{:x}", place.position) : "", sample.ticks,
                    seconds_or_events(profile, sample.ticks));
  }
  return out;
}

}  // namespace pctally
