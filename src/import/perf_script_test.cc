#include <gtest/gtest.h>

#include "import/imported_for_test.h"

namespace pctally {
namespace {

constexpr char kScript[] =
    "# captured on: today\n"
    "Web Content 12/13 [001] 100.000001:     250000 cpu-clock:uH: \n"
    "\t    55d0 std::vector<int, (anonymous namespace)::A>::f(int) const+0x12 (/usr/bin/x (deleted))\n"
    "\t    55d9 main+0x1 (/usr/bin/x)\n"
    "  x.c:12\n"
    "\n"
    "Web Content 12/13 [001] 100.000002:     250000 cpu-clock:uH: \n"
    "\tffffffff8100 [unknown] ([kernel.kallsyms])\n"
    "\n"
    "sh     7 100.000003:     500001 cpu-clock:uH:      55d9 main+0x1 (/usr/bin/x)\n";

TEST(ImportPerfScript, ReadsStacksAndSinglePlaces) {
  Imported read(kScript);
  EXPECT_EQ(read.error, "");
  EXPECT_TRUE(read.profile.counts_cpu_time());
  EXPECT_EQ(read.profile.period_ns, 1u);  // the periods differ
  EXPECT_EQ(read.profile.period_asked_ns, 0u) << "no rate is known";
  const std::string f = "std::vector<int, (anonymous namespace)::A>::f(int) const";
  EXPECT_EQ(read.amounts(), (Sums{{f, 250000}, {"[unknown]", 250000}, {"main", 500001}}));
  EXPECT_EQ(
      read.stacks(),
      (Sums{{"Web Content;main;" + f, 250000}, {"Web Content;[unknown]", 250000}, {"sh;main", 500001}}));
  ASSERT_EQ(read.profile.processes.size(), 2u);
  EXPECT_EQ(read.profile.processes[0].comm, "sh");
  EXPECT_EQ(read.profile.processes[1].pid, 12);
  EXPECT_EQ(read.profile.ledger.samples, 3u);
}

TEST(ImportPerfScript, OnePeriodIsTheTick) {
  std::string text;
  for (int i = 0; i < 4; ++i) text += "a 1 1.5: 1000 cycles:ppp: \n\t1 f (/x)\n\n";
  Imported read(text);
  EXPECT_EQ(read.profile.event, "cycles");
  EXPECT_EQ(read.profile.period_ns, 1000u);
  EXPECT_EQ(read.profile.ledger.counted, 4u);
}

TEST(ImportPerfScript, PeriodsWhoseSumIsTooLargeAreAnError) {
  const std::string sample = "a 1 1.5: 1000000000000000000 cycles: \n\t1 f (/x)\n\n";
  EXPECT_EQ(Imported(sample).error, "");
  EXPECT_EQ(Imported(sample + sample).error, "its amounts are larger than any sum can be");
}

// Kish's formula; a tick is 1 ns or one event, so the squares do not fit a whole number.
TEST(ImportPerfScript, PeriodsThatDifferLittleAreAsManySamples) {
  std::string text;
  for (int i = 0; i < 2000; ++i)
    text += "a 1 1.5: " + std::to_string(30'000'000 + 1009 * i % 700'001) + " cycles: \n\t1 f (/x)\n\n";
  const TickLedger ledger = Imported(text).profile.ledger;
  const auto sum = static_cast<double>(ledger.ticks());
  EXPECT_GT(sum, 2000 * 30e6);
  EXPECT_GT(sum * sum / ledger.weight_squares, 1999);
}

/// "object:function" of each place, outermost first.
std::string objects_of(const std::string& stack_lines) {
  const std::string sample = "p 7/8 1.5:  100 cpu-clock:u: ";
  Imported read(sample + stack_lines + "\n\n" + sample + "\n\t1 f (/f)\n\t2 g (/f)\n\n");
  std::string text;
  for (const auto& [stack, amount] : read.stacks_with_objects())
    if (stack != "p;/f:g;/f:f") text += stack.substr(2);
  return text;
}

// perf prints no object for them, or "(inlined)" behind the line of the source.
TEST(ImportPerfScript, WhatWasInlinedIsOfTheFunctionsObject) {
  EXPECT_EQ(objects_of("\n\t55d0 in+0x3 (inlined)\n\t55d0 mid (inlined)\n\t55d0 out+0x3 (/x)"
                       "\n\t70 start (inlined)\n\t70 _start (/y)"),
            "/y:_start;/y:start;/x:out;/x:mid;/x:in");
  EXPECT_EQ(objects_of("\n\t55d0 in+0x3\n  x.c:2 (inlined)\n\t55d0 out+0x3 (/x)\n  x.c:5"), "/x:out;/x:in");
  EXPECT_EQ(objects_of("\n\t55d0 out+0x3 (/x)\n\t70 in (inlined)"), "(no object):in;/x:out");
  EXPECT_EQ(objects_of("\n\t55d0 __libc_start_main_impl (inlined)\n\t70 _start (/y)"),
            "/y:_start;(no object):__libc_start_main_impl")
      << "perf takes a function for inlined if its debug information has another name than its symbol";
}

TEST(ImportPerfScript, PathsMayHaveBlanksAndBrackets) {
  EXPECT_EQ(objects_of("\n\t55d0 [unknown] (/memfd:doublemapper (deleted))"),
            "/memfd:doublemapper (deleted):[unknown]");
  EXPECT_EQ(objects_of("\n\t55d0 f(int) const+0x1 (/opt/My App (x86)/lib.so)"),
            "/opt/My App (x86)/lib.so:f(int) const");
  EXPECT_EQ(objects_of("\n\t55d0 f() (/opt/a (x86)/lib.so (deleted))"), "/opt/a (x86)/lib.so (deleted):f()");
  EXPECT_EQ(objects_of("\n\t55d0 f() (/a/:-)/lib.so)"), "/a/:-)/lib.so:f()");
  EXPECT_EQ(objects_of("\n\t55d0 f (/a (b/lib.so)"), "/a (b/lib.so:f");
  EXPECT_EQ(objects_of("\n\t55d0 f (/a (/b)/lib.so)"), "/a (/b)/lib.so:f");
  EXPECT_EQ(objects_of("\n\t55d0 *f /app/x (copy).js:12 (/tmp/perf-12.map)"), "[jit]:*f /app/x (copy).js:12");
}

// Else a comparison with another run, or with a recording of pctally, has each of their functions twice.
TEST(ImportPerfScript, KernelAndJitHaveTheNamesThatRecordingsGiveThem) {
  EXPECT_EQ(
      objects_of("\n\tffffffff8100 read_zero+0x1 ([kernel.kallsyms])\n\tffffffffc0000010 ext4_read ([ext4])"
                 "\n\tffffffffc0000020 nft_do ([nf_tables])\n\tffffffff81000000 f "
                 "(/usr/lib/debug/boot/vmlinux-6.1.0)"),
      "[kernel]:f;[kernel]:nft_do;[kernel]:ext4_read;[kernel]:read_zero");
  EXPECT_EQ(objects_of("\n\t55d0 a (/tmp/perf-111.map)\n\t55d1 b ([JIT] tid 7)"
                       "\n\t55d2 c (/root/.debug/jit/java-jit-2026/jitted-7-12.so)\n\t55d3 d (//anon)"),
            "[jit]:d;[jit]:c;[jit]:b;[jit]:a");
  EXPECT_EQ(
      objects_of(
          "\n\tffffffffff600000 v ([vsyscall])\n\tffffffff81000000 g ([guest.kernel.kallsyms])"
          "\n\tffffffff81000001 [unknown] ([unknown])\n\t55d0 h (/x/perf-a.map)\n\t55d1 i (/x/jitted-7.so)"),
      "/x/jitted-7.so:i;/x/perf-a.map:h;[unknown]:[unknown];[guest.kernel.kallsyms]:g;[vsyscall]:v");
}

TEST(ImportPerfScript, AFrameNeedsNoObjectAndNoSymbol) {
  EXPECT_EQ(Imported("p 7 1.5: cpu-clock:u: \n\t55d0 leaf+0x2\n\t55e0 main\n").stacks_with_objects(),
            (Sums{{"p;(no object):main;(no object):leaf", 1}}));
  EXPECT_EQ(Imported("p 7 1.5: cpu-clock:u:   55d0 leaf\n").amounts(), (Sums{{"leaf", 1}}));
  EXPECT_EQ(objects_of("\n\t55d0 (/x)\n\t55e0 (libc.so.6+0x28db6)"), "libc.so.6:[0x55e0];/x:[0x55d0]");
  EXPECT_EQ(objects_of("   55d0 (/x)"), "/x:[0x55d0]");
}

// -F +addr, +weight and +data_src, as perf mem prints them.
TEST(ImportPerfScript, NumbersBeforeTheAddressAreNoName) {
  EXPECT_EQ(objects_of("        0     55a3c47f614a work+0x11 (/x)"), "/x:work");
  EXPECT_EQ(objects_of("  7f0  68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A   12   "
                       "55d0 work (/x)"),
            "/x:work");
  EXPECT_EQ(objects_of("  55d0 f00 (/x)"), "/x:f00");
  EXPECT_EQ(objects_of("  7f0 \n\t55d0 work (/x)"), "/x:work");
  EXPECT_EQ(objects_of("  7f0  68100142 |OP LOAD|LVL L1 hit|BLK  N/A \n\t55d0 work (/x)"), "/x:work");
}

// Without frame pointers the walk ends in what is no address of code.
TEST(ImportPerfScript, AStackThatEndsInUnknownCodeIsCut) {
  const std::string head = "p 7 1.5: 100 cpu-clock: \n\t1 f (/x)\n";
  Imported read(head + "\t87 [unknown] ([unknown])\n\n" + head + "\t2 [unknown] (/lib/y.so)\n\n" + head +
                "\t3 main (/x)\n\n");
  EXPECT_FALSE(read.profile.paths.ends_known);
  EXPECT_EQ(read.stacks(),
            (Sums{{"p;[unknown-mapping];[unknown];f", 100}, {"p;[unknown];f", 100}, {"p;main;f", 100}}));
  const PathTreeNode& cut = read.profile.paths.context[1];
  EXPECT_EQ(cut.kind, PathNodeKind::kCut);
  EXPECT_EQ(cut.position, static_cast<uint64_t>(PathEnd::kUnknownMapping));
}

TEST(ImportPerfScript, ASampleWithoutAStackIsOfItsProcess) {
  Imported read(
      "p 7 1.5: 100 cpu-clock: \n\nkworker/0:2-mm 9 1.6: 100 cpu-clock: \n\t1 f (/x)\n\t2 g (/x)\n\n");
  EXPECT_EQ(read.stacks(), (Sums{{"p;[no-stack]", 100}, {"kworker/0:2-mm;g;f", 100}}));
  EXPECT_EQ(read.profile.ledger.outside, 1u);
}

// By default perf script prints threads alone: -F +pid adds their processes.
TEST(ImportPerfScript, OneNumberIsNotTakenForAProcess) {
  const std::string rest = " 1.5: 100 cpu-clock: \n\t1 f (/x)\n\n";
  const Profile threads = Imported("a 11" + rest + "a 12" + rest + "b 13" + rest).profile;
  ASSERT_EQ(threads.processes.size(), 2u);
  EXPECT_EQ(threads.processes[0].pid, 0) << "not known";
  EXPECT_EQ(threads.processes[0].comm, "a");
  EXPECT_EQ(threads.processes[0].ticks, 2u);
  const Profile processes = Imported("a 11/11" + rest + "a 11/12" + rest + "a 13/13" + rest).profile;
  ASSERT_EQ(processes.processes.size(), 2u);
  EXPECT_EQ(processes.processes[0].pid, 11);
  EXPECT_EQ(processes.processes[0].ticks, 2u);
}

TEST(ImportPerfScript, TheCoresOfAHybridCpuHaveOneEvent) {
  Imported read(
      "x 12 1.5:  10 cpu_core/cycles/P: \n\t1 f (/x)\n\nx 12 1.6:  10 cpu_atom/cycles:u/: \n\t1 f (/x)\n\n"
      "x 12 1.6:  10 cpu_atom/cycles/: \n\t1 f (/x)\n");
  EXPECT_EQ(read.error, "");
  EXPECT_EQ(read.profile.event, "cycles");
  EXPECT_EQ(read.amounts(), (Sums{{"f", 30}}));
}

// perf adds the u for a plain user: then kernel code is not missing in the program, it was not sampled.
TEST(ImportPerfScript, EventsOfUserCodeDoNotSeeTheKernel) {
  const auto sample = [](const std::string& event) { return "p 7 1.5: 100 " + event + ": \n\t1 f (/x)\n\n"; };
  for (const char* event :
       {"cpu-clock:u", "cycles:uhpppH", "cpu_core/cycles/Pu", "cpu_atom/cycles:u/", "cpu/event=0x3c/u"})
    EXPECT_FALSE(Imported(sample(event)).profile.kernel_observed) << event;
  for (const char* event : {"cpu-clock", "cycles:ppp", "cycles:uk", "cpu_core/cycles/", "bus", "sched:run_u"})
    EXPECT_TRUE(Imported(sample(event)).profile.kernel_observed) << event;
  EXPECT_TRUE(Imported(sample("cycles:u") + sample("cycles")).profile.kernel_observed);
  EXPECT_TRUE(Imported(sample("cycles") + sample("cycles:u")).profile.kernel_observed);
}

TEST(ImportPerfScript, TextWithoutNameTimeOrEventIsRefusedByName) {
  const char* refused =
      "it lacks names, times or events; perf script -F comm,pid,tid,time,period,event,ip,sym,dso prints them";
  for (const char* head : {"p  7/8  ", "p 7 cpu-clock:u: ", "p 7  1.5:  ", "p 7  1.5:  250000 ", "p "})
    EXPECT_EQ(Imported(std::string(head) + "\n\t55d0 leaf+0x1 (/x)\n\t55e0 main+0x1 (/x)\n\n").error, refused)
        << head;
  EXPECT_EQ(Imported("  7 1.5: cpu-clock: \n\t55d0 leaf\n\n").error, refused);
  EXPECT_EQ(Imported("x\n\tadd a (b)\nno more\n").error, "none");
  EXPECT_EQ(Imported("\t55d0 leaf+0x1 (/x)\n").error, "none");
  EXPECT_EQ(Imported("x\n\t55d0 leaf+0x1\n").error, "none");
}

// Without threads only the names that end in a number look like one: "my thr 12", "a".
TEST(ImportPerfScript, ASampleThatCannotBeReadIsNotDropped) {
  const auto refused = [](int line) {
    return "line " + std::to_string(line) +
           " is a sample that cannot be read; try perf script -F comm,pid,tid,time,period,event,ip,sym,dso";
  };
  const std::string stack = "\n\t1 f (/x)\n", good = "my thr 12 1.5: 100 cycles: " + stack + "\n";
  EXPECT_EQ(Imported(good + "a 1.6: 100 cycles: " + stack).error, refused(4));
  EXPECT_EQ(Imported("a 1.6: 100 cycles: " + stack + "\n" + good).error, refused(1));
  EXPECT_EQ(Imported(good + "a 7 1.6: 100 my event: " + stack).error, refused(4));
  const std::string flat = "  thr 12 1.5: 100 cycles:   1 f (/x)\n";
  EXPECT_EQ(Imported(flat + "       a 1.6: 100 cycles:   1 f (/x)\n").error, refused(2));
  EXPECT_EQ(Imported(flat + "processed 1 event\n").error, "");
  EXPECT_EQ(Imported("\t1 f (/x)\n\n" + good).error, "") << "the end of a sample";
  EXPECT_EQ(Imported(flat + "#a 7 1.6: 100 cycles:   1 f (/x)\n").profile.ledger.counted, 2u);
}

std::vector<std::string> damage_of(const std::string& text) { return Imported(text).profile.damage; }

TEST(ImportPerfScript, ATextThatIsCutOffIsDamaged) {
  const std::string sample =
      "p 7 1.5:  100 cpu-clock:u:\n\t55d0 leaf+0x1 (/bin/p)\n\t55e0 main+0x2 (/bin/p)\n\n";
  const std::string text = sample + sample;
  const size_t whole = text.size() - 2;  // without the ends of lines, as who trims a text leaves it
  for (const size_t size : {whole, text.size()}) EXPECT_TRUE(damage_of(text.substr(0, size)).empty()) << size;
  EXPECT_FALSE(damage_of(text.substr(0, whole + 1)).empty()) << "more lines may follow";
  for (size_t size = sample.size() + 1; size < whole; ++size) {
    const std::string cut = text.substr(0, size);
    EXPECT_EQ(damage_of(cut).size(), cut.ends_with(')') ? 0u : 1u) << cut;
  }
  const std::string flat = "p 7 1.5:  100 cpu-clock:u:  55d0 leaf+0x1 (/bin/p)\n";
  EXPECT_TRUE(damage_of(flat + flat).empty());
  EXPECT_TRUE(damage_of(sample + flat).empty());
  EXPECT_FALSE(damage_of(flat + flat.substr(0, flat.size() - 5)).empty());
}

// -F +insn, +brstack, +uregs
TEST(ImportPerfScript, DataBehindThePlaceIsNoPartOfIt) {
  const std::string head = "p 7 1.5:  100 cpu-clock: ", stack = "\n\t55d0 leaf+0x1 (/x)\n\t55e0 main (/x)\n";
  const Sums sums{{"leaf", 200}};
  for (const std::string data :
       {" insn: 31 d0", " ilen: 2 insn: 31 d0", "  0x55d0/0x55e0/P/-/-/0 ", " ABI:2 AX:0x0"}) {
    const std::string flat = head + "  55d0 leaf+0x1 (/x)" + data + "\n";
    EXPECT_EQ(Imported(flat + flat).amounts(), sums) << data;
  }
  for (const std::string end : {" insn: 31 d0\n", "\n"}) {
    Imported read(head + stack + " insn: 31 d0\n" + head + stack + end);
    EXPECT_EQ(read.amounts(), sums);
    EXPECT_TRUE(read.profile.damage.empty());
  }
  EXPECT_FALSE(damage_of(head + stack + " insn: 31 d0\n" + head + stack).empty());
}

TEST(ImportPerfScript, WhatWasLostIsBooked) {
  const std::string sample = "p 7 1.5:  100 cpu-clock:u:  55d0 leaf+0x1 (/bin/p)\n";
  Imported read(sample + "p 7 [000] 1.6: PERF_RECORD_LOST lost 3\n" + sample +
                "p     7 [001] 1.7: PERF_RECORD_LOST_SAMPLES lost 2\np 7 1.8: PERF_RECORD_THROTTLE\n");
  EXPECT_EQ(read.profile.ledger.counted, 2u) << read.error;
  EXPECT_EQ(read.profile.ledger.lost, 5u);
  EXPECT_EQ(read.profile.throttled, 1u);
}

TEST(ImportPerfScript, GuessesNoUnit) {
  EXPECT_EQ(Imported("a 1 1.5: 10 cycles: \n\t1 f (/x)\n\na 1 1.6: 10 faults: \n\t1 f (/x)\n").error,
            "it holds cycles and faults; perf script --per-event-dump writes a file for each event");
  Imported read("a 1 1.5: cpu-clock: \n\t1 f (/x)\n");
  EXPECT_EQ(read.profile.event, "samples");
  EXPECT_EQ(Imported("a 1 1.5: cycles: \n\t1 f (/x)\n\na 1 1.6: 10 cycles: \n\t1 f (/x)\n").error,
            "line 4: some samples have a period and some have none");
}

}  // namespace
}  // namespace pctally
