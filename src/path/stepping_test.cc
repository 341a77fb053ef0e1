// Real code, one instruction after another, against a shadow stack that is kept from its calls and returns:
// the path has to be right after every one, in prologues and epilogues, in the PLT and in assembly.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <functional>

#include "histfile/fresh_file_for_test.h"
#include "path/process_code_for_test.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace pctally {
namespace {

constexpr int kSteps = 40000, kManySteps = 100000, kStepsOfStarts = 5000;
constexpr size_t kStackBytes = 64 << 10;  ///< regexec takes 16 KiB at once

enum class Flow { kOther, kCall, kReturn };

/// The flow of an instruction of this process's own code.
Flow flow_of(uint64_t pc) {
  const auto* code = reinterpret_cast<const unsigned char*>(pc);
  const auto is_prefix = [](unsigned char byte) {
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x3e || byte == 0x2e || byte == 0x64 ||
           (byte & 0xf0) == 0x40;
  };
  while (is_prefix(*code)) ++code;
  if (code[0] == 0xc3 || code[0] == 0xc2) return Flow::kReturn;
  const bool indirect = code[0] == 0xff && ((code[1] >> 3 & 7) == 2 || (code[1] >> 3 & 7) == 3);
  return code[0] == 0xe8 || indirect ? Flow::kCall : Flow::kOther;
}

struct Result {
  int steps = 0, inside = 0, calls = 0, right = 0;
  std::map<PathEnd, int> cut;
  std::vector<std::string> wrong;  ///< the first few
};

/// Steps through what a child does: work(0), work(1) and so on.
class Stepped {
 public:
  /// `object`: an address in the object whose instructions are counted.
  Stepped(const void* object, const std::function<void(int)>& work) : code_(&fresh_.file(), &unwinder_) {
    CodeAddress place;
    if (code_.find(reinterpret_cast<uint64_t>(object), &place)) segment_ = place.segment;
    pid_ = fork();
    if (pid_ == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
      asm volatile("int3");
      for (int round = 0;; ++round) work(round);
    }
    waitpid(pid_, &status_, 0);
  }
  Stepped(const Stepped&) = delete;
  ~Stepped() {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }

  /// Until `most` instructions of the object were executed.
  Result run(int most) {
    Result result;
    user_regs_struct before = registers();
    shadow_ = path_at(before).second;
    for (; result.inside < most && WIFSTOPPED(status_); ++result.steps) {
      ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr);
      waitpid(pid_, &status_, 0);
      if (!WIFSTOPPED(status_)) break;
      const user_regs_struct after = registers();
      CodeAddress place;
      result.inside += code_.find(before.rip, &place) && place.segment == segment_ ? 1 : 0;
      result.calls += follow(before, after) ? 1 : 0;
      compare(after, &result);
      before = after;
    }
    return result;
  }

 private:
  [[nodiscard]] user_regs_struct registers() const {
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    return registers;
  }

  uint64_t place_of(uint64_t address) {
    CodeAddress place;
    return code_.find(address, &place) ? PathPlace::code(place.segment, place.index) : 0;
  }

  /// True if it was a call.
  bool follow(const user_regs_struct& before, const user_regs_struct& after) {
    const Flow flow = flow_of(before.rip);
    if (flow == Flow::kReturn && !shadow_.empty()) shadow_.erase(shadow_.begin());
    if (flow != Flow::kCall) return false;
    uint64_t back = 0;
    iovec to{&back, sizeof back}, from{reinterpret_cast<void*>(after.rsp), sizeof back};
    process_vm_readv(pid_, &to, 1, &from, 1, 0);
    shadow_.insert(shadow_.begin(), place_of(back - 1));
    return true;
  }

  /// How it ends, and the places of the calls, innermost first.
  std::pair<PathEnd, std::vector<uint64_t>> path_at(const user_regs_struct& registers) {
    unsigned char stack[kStackBytes];
    iovec to{stack, sizeof stack}, from{reinterpret_cast<void*>(registers.rsp), sizeof stack};
    ssize_t got = process_vm_readv(pid_, &to, 1, &from, 1, 0);
    for (size_t bytes = sizeof stack; got < 0 && bytes > 64; bytes /= 2) {  // the stack ends before
      to.iov_len = from.iov_len = bytes / 2;
      got = process_vm_readv(pid_, &to, 1, &from, 1, 0);
    }
    StackSample sample;
    sample.registers = {registers.rip, registers.rsp, registers.rbp,
                        registers.rbx, registers.r10, registers.rdi};
    sample.stack = {stack, static_cast<size_t>(std::max<ssize_t>(got, 0))};
    sample.attempted = sample.cut_off = true;
    frames_.clear();
    const PathEnd end = unwinder_.unwind(code_, sample, &frames_);
    std::vector<uint64_t> places;
    for (size_t i = 1; i < frames_.size(); ++i) places.push_back(frames_[i].place);
    return {end, places};
  }

  void compare(const user_regs_struct& registers, Result* result) {
    const auto [end, places] = path_at(registers);
    const bool starts_so =
        places.size() <= shadow_.size() && std::equal(places.begin(), places.end(), shadow_.begin());
    if (!starts_so) {
      if (result->wrong.size() < 5) result->wrong.push_back(text_of(registers.rip));
      return;
    }
    if (places.size() == shadow_.size())
      ++result->right;
    else
      ++result->cut[end];
  }

  static std::string text_of(uint64_t pc) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(pc), &info);
    return std::string(info.dli_fname == nullptr ? "?" : info.dli_fname) + " " +
           (info.dli_sname == nullptr ? "?" : info.dli_sname) + " " + std::to_string(pc);
  }

  FreshFile fresh_;
  Unwinder unwinder_;
  ProcessCode code_;
  uint32_t segment_ = 0;  ///< of the object
  pid_t pid_ = 0;
  int status_ = 0;
  std::vector<uint64_t> shadow_;  ///< places of the calls that have not returned, innermost first
  std::vector<PathFrame> frames_;
};

void expect_right(Stepped&& stepped, int most) {
  const Result result = stepped.run(most);
  if (result.steps == 0) GTEST_SKIP() << "tracing is not permitted here";
  std::cout << result.steps << " instructions, " << result.inside << " of them in the object, "
            << result.calls << " calls: " << result.right << " paths are right\n";
  EXPECT_EQ(result.inside, most);
  EXPECT_GT(result.calls, most / 200);
  EXPECT_TRUE(result.wrong.empty()) << result.wrong.front() << ", and " << result.wrong.size() - 1 << " more";
  for (const auto& [end, count] : result.cut)
    ADD_FAILURE() << count << " paths cut for reason " << static_cast<int>(end);
  EXPECT_EQ(result.right, result.steps);
}

int compare_ints(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

void work_in_libc(int round) {
  char text[256];
  int numbers[200];
  const int count = 20 + round % 180;
  for (int i = 0; i < count; ++i) numbers[i] = (i + round) * 7919 % 211;
  qsort(numbers, static_cast<size_t>(count), sizeof numbers[0], compare_ints);
  snprintf(text, sizeof text, "%d %.17g %s", numbers[3], strtod("3.25e17", nullptr) / (1 + round), "text");
  regex_t regex;
  regcomp(&regex, round % 2 == 0 ? "^([0-9]+) [a-z.]+" : "(x|[0-9])*t$", REG_EXTENDED);
  (void)regexec(&regex, text, 0, nullptr, 0);
  regfree(&regex);
  const time_t now = 1700000000 + round * 12345678;
  tm broken;
  strftime(text, sizeof text, "%c", localtime_r(&now, &broken));
  free(realloc(malloc(100 + static_cast<size_t>(round)), 100000));
}

TEST(Stepping, ThePathIsRightAfterEveryInstructionOfLibc) {
  expect_right({reinterpret_cast<const void*>(qsort), work_in_libc}, kSteps);
}

TEST(Stepping, ManyInstructionsOfLibc) {
  expect_right({reinterpret_cast<const void*>(qsort), work_in_libc}, kManySteps);
}

/// vfork has its return address in a register, and clone3, by which threads and posix_spawn() start, has code
/// that no entry of the table covers.
void start_others(int) {
  sigset_t all;
  pthread_t thread;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);  // a signal is no step
  const pid_t child = vfork();            // NOLINT(bugprone-unsafe-functions): it is what is stepped through
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  if (pthread_create(
          &thread, nullptr, [](void* argument) { return argument; }, nullptr) == 0)
    pthread_join(thread, nullptr);
}

TEST(Stepping, ThePathIsRightWhereProcessesAndThreadsStart) {
  expect_right({reinterpret_cast<const void*>(qsort), start_others}, kStepsOfStarts);
}

void step_through_sqlite(int most) {
  void* library = dlopen("libsqlite3.so.0", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "libsqlite3 is not installed";
  const auto open = reinterpret_cast<int (*)(const char*, void**)>(dlsym(library, "sqlite3_open"));
  void* const exec_address = dlsym(library, "sqlite3_exec");
  const auto exec = reinterpret_cast<int (*)(void*, const char*, void*, void*, void*)>(exec_address);
  void* base = nullptr;
  ASSERT_EQ(open(":memory:", &base), 0);
  const auto run = [&](const std::string& sql) { exec(base, sql.c_str(), nullptr, nullptr, nullptr); };
  run("create table t(a integer primary key, b text); create index i on t(b)");
  expect_right({exec_address,
                [&](int round) {
                  const std::string number = std::to_string(round);
                  run("insert into t(b) values('one'), ('two" + number + "'), (printf('%.3f', 3.5 / (1 + " +
                      number + ")))");
                  run("select b, count(*) from t where a between 1 and 30 group by b order by b desc");
                  run("update t set b = upper(b) || 'x' where a % 3 = " + std::to_string(round % 3));
                  run("select t.b, json_array(u.a, u.b) from t join t u on t.b < u.b limit 5");
                }},
               most);
}

TEST(Stepping, ThePathIsRightAfterEveryInstructionOfSqlite) { step_through_sqlite(kSteps); }

TEST(Stepping, ManyInstructionsOfSqlite) { step_through_sqlite(kManySteps); }

}  // namespace
}  // namespace pctally

#endif
