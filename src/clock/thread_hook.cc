#include "clock/thread_hook.h"

#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_kept.h"
#include "base/hidden_signals.h"
#include "base/next_call.h"
#include "clock/own_process.h"
#include "clock/thread_pots.h"
#include "clock/thread_timers.h"
#include "clock/threads_lock.h"
#include "clock/tick_path.h"

namespace pctally {
namespace {

using Routine = void* (*)(void*);
using RoutineC11 = int (*)(void*);
using CreateC11 = int(pthread_t*, RoutineC11, void*);  // thrd_create: <threads.h> is younger than glibc 2.27
constexpr int kErrorC11 = 2;                           // thrd_error

/// A signal's frame (3.5 KiB with AVX-512, 11 with AMX) and what the handler needs, above all that the
/// program asked for.
constexpr size_t kHandlerRoom = 32 << 10;
constexpr size_t kSmallDefault =
    1 << 20;  ///< that only pthread_setattr_default_np(3) makes, or another C library

int g_clocks = 0;
int g_filtered = 0, g_masks_refused = 0;
int g_filter_costs[2] = {};
void (*g_enter_once)() = nullptr;
void (*g_check_root)() = nullptr;
pthread_key_t g_key;
bool g_has_key = false;
constinit NextCall g_next("pthread_create", pthread_create);
constinit NextCall<CreateC11> g_next_c11("thrd_create");

__attribute__((constructor)) void find_calls() noexcept { find_all(g_next, g_next_c11); }

/// By a type without arguments, which casts from and to every function are meant to go by.
template <typename To, typename From>
To as_routine(From routine) noexcept {
  return reinterpret_cast<To>(reinterpret_cast<void (*)()>(routine));
}

/// The attributes the thread gets: the program's, with room for a handler.
class RoomyAttributes {
 public:
  explicit RoomyAttributes(const pthread_attr_t* asked) noexcept : used_(asked) {
    void* stack = nullptr;
    size_t bytes = 0;
    if (asked == nullptr) {
      use_default();
      return;
    }
    if (pthread_attr_getstack(asked, &stack, &bytes) == 0 && stack_is_own(stack, bytes)) {
      small_ = bytes < kHandlerRoom;
      bytes_ = bytes;
      return;
    }
    if (pthread_attr_getstacksize(asked, &bytes) != 0 || bytes > SIZE_MAX - kHandlerRoom) return;
    copy_ = *asked;  // shares what it points to with the program's, and is not destroyed
    if (pthread_attr_setstacksize(&copy_, bytes + kHandlerRoom) == 0) used_ = &copy_;
    bytes_ = bytes;
  }
  RoomyAttributes(const RoomyAttributes&) = delete;
  RoomyAttributes& operator=(const RoomyAttributes&) = delete;
  ~RoomyAttributes() {
    if (owns_copy_) pthread_attr_destroy(&copy_);
  }
  [[nodiscard]] const pthread_attr_t* get() const noexcept { return used_; }
  [[nodiscard]] bool small() const noexcept { return small_; }
  /// The least size of the stack; 0: not known.
  [[nodiscard]] size_t bytes() const noexcept { return bytes_; }

 private:
  /// Without one the C library tells the size below address 0.
  static bool stack_is_own(void* stack, size_t bytes) noexcept {
    return stack != nullptr && reinterpret_cast<uintptr_t>(stack) + bytes != 0;
  }
  /// A program may have set it, and RLIMIT_STACK since the C library read it.
  void use_default() noexcept {
    pthread_attr_t plain;
    if (pthread_attr_init(&plain) != 0) return;
    if (pthread_attr_getstacksize(&plain, &bytes_) != 0) bytes_ = 0;
    pthread_attr_destroy(&plain);
    if (bytes_ == 0 || bytes_ >= kSmallDefault) return;
    owns_copy_ = pthread_getattr_default_np(&copy_) == 0;
    if (owns_copy_ && pthread_attr_setstacksize(&copy_, bytes_ + kHandlerRoom) == 0) used_ = &copy_;
  }
  const pthread_attr_t* used_;
  pthread_attr_t copy_;
  bool owns_copy_ = false;
  size_t bytes_ = 0;
  bool small_ = false;
};

void unblock_hidden() noexcept {
  sigset_t ours;
  sigemptyset(&ours);
  block_ticks_in(&ours);
  next_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

__thread bool t_small_stack = false;

/// A thread without a timer has the events of the trap all the same, which it inherits. Ticks of the timer
/// stay as they are: the mask would go to what it executes.
void block_trap() noexcept {
  if ((hidden_signals() >> (SIGTRAP - 1) & 1) != 0) keep_ticks_blocked(NoTicks::kSmallStack, true);
}

/// In the new thread, whose errno is as the C library left it.
void begin(ThreadRecord* record) noexcept {
  const ErrnoKept kept;
  if (has_seccomp_filter()) record->untimed = Untimed::kSeccomp;
  if (record->untimed == Untimed::kSeccomp) return;
  t_small_stack = record->untimed == Untimed::kSmallStack;
  if (t_small_stack)
    block_trap();
  else
    unblock_hidden();
  const HandlersBlocked blocked;  // one that ended the thread now would leave it without its end
  know_own_stack(record->stack_bytes);
  begin_thread(record);
  if (g_has_key) pthread_setspecific(g_key, record);
}

/// The last call is a jump: the thread's stack is as it would be without us.
void* run(void* given) {
  auto* record = static_cast<ThreadRecord*>(given);
  Routine routine = record->routine;
  void* argument = record->argument;
  begin(record);
  return routine(argument);
}

int run_c11(void* given) {
  auto* record = static_cast<ThreadRecord*>(given);
  auto routine = as_routine<RoutineC11>(record->routine);
  void* argument = record->argument;
  begin(record);
  return routine(argument);
}

/// Ours is the first key, and the destructors of the program's come after it: until the last round it waits.
/// But one of them may free the alternate stack.
void at_thread_end(void* record) {
  static __thread unsigned t_round;
  const bool waits =
      !has_seccomp_filter() && !has_alternate_stack() && ++t_round < PTHREAD_DESTRUCTOR_ITERATIONS;
  if (waits && pthread_setspecific(g_key, record) == 0) return;
  if (!has_seccomp_filter()) end_thread(static_cast<ThreadRecord*>(record));
}

ThreadRecord* take_record() noexcept {
  const ThreadsLock locked;
  return new_thread_record();
}

ThreadRecord* new_record(Routine routine, void* argument, const RoomyAttributes& attributes) noexcept {
  ThreadRecord* record = take_record();
  if (record == nullptr) return nullptr;
  record->routine = routine;
  record->argument = argument;
  record->pot = ThreadPots::pot_of(reinterpret_cast<const void*>(routine));
  record->hooked = true;
  record->stack_bytes = attributes.bytes();
  if (attributes.small()) record->untimed = Untimed::kSmallStack;
  return record;
}

/// Null behind a filter, too.
ThreadRecord* record_unless_filtered(Routine routine, void* argument,
                                     const RoomyAttributes& attributes) noexcept {
  if (!has_seccomp_filter()) return new_record(routine, argument, attributes);
  note_filter_cost(FilterCost::kThread);
  return nullptr;
}

/// A child of the bare clone(2) that nothing has entered has a copy of its parent's clocks. What a clock of
/// its counted would be the parent's.
bool has_clocks() noexcept {
  return __atomic_load_n(&g_clocks, __ATOMIC_RELAXED) != 0 && !runs_in_lent_memory();
}

void give_back_unused(ThreadRecord* record) noexcept {
  const ThreadsLock locked;
  give_back(record);
}

int create(pthread_t* thread, const pthread_attr_t* asked, Routine routine, void* argument) noexcept {
  const RoomyAttributes attributes(asked);
  ThreadRecord* record = record_unless_filtered(routine, argument, attributes);
  if (record == nullptr) return g_next.get()(thread, asked, routine, argument);
  int error = g_next.get()(thread, attributes.get(), run, record);
  if (error != 0 && attributes.get() != asked) {
    record->untimed = Untimed::kSmallStack;
    error = g_next.get()(thread, asked, run, record);
  }
  if (error != 0) give_back_unused(record);
  return error;
}

/// C11 has no attributes: the stack is the default's.
int create_c11(pthread_t* thread, RoutineC11 routine, void* argument) noexcept {
  const RoomyAttributes none(nullptr);
  ThreadRecord* record = record_unless_filtered(as_routine<Routine>(routine), argument, none);
  if (record == nullptr) return g_next_c11.get()(thread, routine, argument);
  if (none.get() != nullptr && none.bytes() < 2 * kHandlerRoom) record->untimed = Untimed::kSmallStack;
  const int error = g_next_c11.get()(thread, run_c11, record);
  if (error != 0) give_back_unused(record);
  return error;
}

}  // namespace

bool has_alternate_stack() noexcept {
  stack_t now{};
  return syscall(SYS_sigaltstack, nullptr, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0;
}

bool is_on_small_stack() noexcept { return t_small_stack; }

void hook_threads(int change) noexcept {
  bring_signal_hooks();
  bring_old_signal_hooks();
  bring_action_hooks();
  if (!g_has_key && change > 0) g_has_key = pthread_key_create(&g_key, at_thread_end) == 0;
  if (__atomic_add_fetch(&g_clocks, change, __ATOMIC_ACQ_REL) != 0) return;
  reveal_signals();
}

void note_seccomp_filter(bool allows_masks) noexcept {
  if (!allows_masks) __atomic_store_n(&g_masks_refused, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&g_filtered, 1, __ATOMIC_RELEASE);
}
bool may_change_masks() noexcept { return __atomic_load_n(&g_masks_refused, __ATOMIC_RELAXED) == 0; }
bool has_seccomp_filter() noexcept { return __atomic_load_n(&g_filtered, __ATOMIC_RELAXED) != 0; }

void set_entry_hooks(void (*first)(), void (*at_root)()) noexcept {
  g_enter_once = first;
  g_check_root = at_root;
}
void enter_once() noexcept {
  if (g_enter_once != nullptr) g_enter_once();
}
void check_root() noexcept {
  if (g_check_root != nullptr && !has_seccomp_filter()) g_check_root();
}

void note_filter_cost(FilterCost cost) noexcept {
  __atomic_store_n(&g_filter_costs[static_cast<unsigned>(cost)], 1, __ATOMIC_RELAXED);
}
bool filter_cost(FilterCost cost) noexcept {
  return __atomic_load_n(&g_filter_costs[static_cast<unsigned>(cost)], __ATOMIC_RELAXED) != 0;
}

}  // namespace pctally

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*routine)(void*),
                                                                     void* argument) noexcept {
  using namespace pctally;
  enter_once();
  if (has_clocks()) return create(thread, attributes, routine, argument);
  return g_next.get()(thread, attributes, routine, argument);
}

/// The C library's goes round its exported pthread_create.
extern "C" __attribute__((visibility("default"))) int thrd_create(pthread_t* thread, int (*routine)(void*),
                                                                  void* argument) noexcept {
  using namespace pctally;
  enter_once();
  auto* next = g_next_c11.get();
  if (next == nullptr) return kErrorC11;  // before glibc 2.28
  if (has_clocks()) return create_c11(thread, routine, argument);
  return next(thread, routine, argument);
}
