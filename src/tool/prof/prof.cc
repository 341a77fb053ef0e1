// pctally prof: what monitor() of a program has written, or a profile, as prof(1) of System V lists it.
#include <unistd.h>

#include "report/prof_listing.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/message.h"
#include "tool/prof/data.h"

namespace pctally {
namespace {

constexpr double kUsualHertz = 100;

struct Arguments {
  std::string a_out = "a.out";
  std::string data = "mon.out";
  ProfOptions options;
  bool by_time = false, by_calls = false, by_address = false, by_name = false;
  bool octal = false, hex = false, no_header = false, summary = false, demangled = false;
  std::optional<double> hertz;
};

void describe_options(CLI::App& app, Arguments& arguments) {
  app.add_option("a.out", arguments.a_out, "The program's executable file (default a.out)")->option_text(" ");
  app.add_option("-m", arguments.data, "The data: mon.out (default), gmon.out, or a profile (*.pct)")
      ->option_text("FILE");
  auto* order = app.add_option_group("order");
  order->add_flag("-t", arguments.by_time, "Sort by decreasing time (default)");
  order->add_flag("-c", arguments.by_calls, "Sort by decreasing number of calls");
  order->add_flag("-a", arguments.by_address, "Sort by increasing address");
  order->add_flag("-n", arguments.by_name, "Sort by name");
  order->require_option(0, 1);
  auto* octal = app.add_flag("-o", arguments.octal, "Print addresses, in octal");
  app.add_flag("-x", arguments.hex, "Print addresses, in hexadecimal")->excludes(octal);
  app.add_flag("-g", arguments.options.statics, "A line for every static function, too");
  app.add_flag("-z", arguments.options.unused, "A line for functions without time and calls, too");
  app.add_flag("-C", arguments.demangled, "Demangle names");
  app.add_flag("-h", arguments.no_header, "Leave out the header");
  app.add_flag("-s", arguments.summary, "Print a summary on standard error");
  app.add_option("--hz", arguments.hertz, "Ticks per second, where the data do not say (default 100)")
      ->check(CLI::Range(0.001, 1e6).description(""))
      ->option_text("N");
}

ProfOptions options_of(const Arguments& arguments, const TextProfile& profile) {
  ProfOptions options = arguments.options;
  if (arguments.by_calls) options.order = ProfOrder::kCalls;
  if (arguments.by_address) options.order = ProfOrder::kAddress;
  if (arguments.by_name) options.order = ProfOrder::kName;
  if (arguments.octal) options.address = ProfAddress::kOctal;
  if (arguments.hex) options.address = ProfAddress::kHex;
  options.header = !arguments.no_header;
  options.seconds_per_tick =
      profile.seconds_per_tick > 0 ? profile.seconds_per_tick : 1 / arguments.hertz.value_or(kUsualHertz);
  return options;
}

void print_summary(const std::string& text) {
  for (size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    inform("{}", text.substr(at, end - at));
}

int list(const Arguments& arguments) {
  auto a_out = ElfFile::open(arguments.a_out);
  if (!a_out) return complain("{}", a_out.error().text), kExitInput;
  auto data = read_prof_data(arguments.data, *a_out);
  if (!data) return complain("{}", data.error().text), kExitInput;
  ProfFunctions functions = ProfFunctions::of(*a_out, arguments.demangled);
  if (functions.all().empty()) inform("{} has no symbols: its functions cannot be named", arguments.a_out);
  for (const TextHistogram& histogram : data->text.histograms) functions.add(histogram);
  for (const CallCount& calls : data->text.calls) functions.add(calls);
  ProfOptions options = options_of(arguments, data->text);
  if (arguments.summary) print_summary(prof_summary(data->text, functions, options.seconds_per_tick));
  return write_out(prof_listing(functions, data->elsewhere, options));
}

}  // namespace

int run_prof(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  CLI::App app("Lists the functions of a program with the time each used, as prof(1) of System V did.",
               "pctally prof");
  app.set_help_flag("--help", "Print this help message and exit");
  app.footer("Exit status: 0; 2 wrong usage; 4 a file cannot be read; 125 the listing cannot be written.");
  describe_options(app, arguments);
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  return list(arguments);
}

}  // namespace pctally
