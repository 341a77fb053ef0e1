// pctally prof: what monitor() of a program has written, or a profile, as prof(1) of System V lists it.
#include <unistd.h>

#include "report/prof/prof_listing.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/prof/data.h"
#include "tool/terminal/message.h"

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

constexpr char kHelp[] =
    R"(List the functions of a program with their times, as prof(1) of System V did.

  pctally prof                          mon.out of ./a.out
  pctally prof -m work.pct ./prog       a profile of pctally record

          PROGRAM              its executable file (a.out)
Data      -m FILE              mon.out (default), gmon.out, or a profile
          --hz N               ticks per second, where FILE does not say (100)
Order     -t time (default)    -c calls    -a address    -n name
Columns   -o addresses in octal    -x in hexadecimal    -C demangle names    -h no header
Rows      -g static functions too    -z functions without time or calls too
          -s                   a summary on standard error

Exit: 0; 2 usage; 4 a file cannot be read; 125 the output failed.
)";

void describe_options(OptionParser& app, Arguments& arguments) {
  app.set_help_flag("--help");
  app.help_page(kHelp);
  app.add_option("PROGRAM", arguments.a_out);
  app.add_option("-m", arguments.data);
  app.add_flag("-t", arguments.by_time);
  app.add_flag("-c", arguments.by_calls);
  app.add_flag("-a", arguments.by_address);
  app.add_flag("-n", arguments.by_name);
  app.add_flag("-o", arguments.octal);
  app.add_flag("-x", arguments.hex);
  app.add_flag("-g", arguments.options.statics);
  app.add_flag("-z", arguments.options.unused);
  app.add_flag("-C", arguments.demangled);
  app.add_flag("-h", arguments.no_header);
  app.add_flag("-s", arguments.summary);
  app.add_option("--hz", arguments.hertz)->check(number_from_to(0.001, 1e6));
}

/// An empty string, or what is wrong.
std::string check(const Arguments& arguments) {
  int orders = (arguments.by_time ? 1 : 0) + (arguments.by_calls ? 1 : 0) + (arguments.by_address ? 1 : 0) +
               (arguments.by_name ? 1 : 0);
  if (orders > 1) return "choose one order: -t, -c, -a or -n";
  if (arguments.octal && arguments.hex) return "choose one: -o (octal) or -x (hexadecimal)";
  return {};
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

int cannot_open(const std::string& a_out, const Error& error) {
  if (a_out.ends_with(".pct"))
    complain("{0} is a profile; name it with -m: pctally prof -m {0} PROGRAM", a_out);
  else
    complain("{}; name the program: pctally prof [-m FILE] PROGRAM", error.text);
  return kExitInput;
}

int list(const Arguments& arguments) {
  auto a_out = ElfFile::open(arguments.a_out);
  if (!a_out) return cannot_open(arguments.a_out, a_out.error());
  auto data = read_prof_data(arguments.data, *a_out);
  if (!data) {
    complain("{}", data.error().text);
    return kExitInput;
  }
  name_damage(data->damage, arguments.data);
  ProfFunctions functions = ProfFunctions::of(*a_out, arguments.demangled);
  if (functions.all().empty()) inform("{} has no symbols: its functions cannot be named", arguments.a_out);
  for (const TextHistogram& histogram : data->text.histograms) functions.add(histogram);
  for (const CallCount& calls : data->text.calls) functions.add(calls);
  ProfOptions options = options_of(arguments, data->text);
  if (arguments.summary) print_summary(prof_summary(data->text, functions, options.seconds_per_tick));
  return exit_code_of(!data->damage.empty(), write_out(prof_listing(functions, data->elsewhere, options)));
}

}  // namespace

int run_prof(int argc, char** argv) {
  let_writes_fail();
  Arguments arguments;
  OptionParser app("pctally prof");
  describe_options(app, arguments);
  CommandLineHints hints{
      .surplus = "one program at a time; the data's name goes with -m: -m {}", .unknown = {}, .missing = {}};
  if (auto code = app.parse(argc, argv, hints)) return *code;
  if (std::string wrong = check(arguments); !wrong.empty()) {
    complain("{}", wrong);
    return kExitUsage;
  }
  return list(arguments);
}

}  // namespace pctally
