#include "bpf/bpf_counter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "base/kernel/kernel_setting.h"
#include "base/time_ns.h"
#include "bpf/kernel_fields.h"
#include "bpf/map_array.h"
#include "bpf/program_image.h"
#include "perf/cpu_numbers.h"
#include "perf/descriptor_limit.h"
#include "perf/tick_phases.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {
namespace {

constexpr uint64_t kMostPids = 4u << 20;  // PID_MAX_LIMIT

uint64_t most_pids() noexcept {
  const auto number = static_cast<uint64_t>(kernel_setting("/proc/sys/kernel/pid_max", kMostPids));
  return std::clamp<uint64_t>(number, 64, kMostPids);
}

int say_nothing(libbpf_print_level, const char*, va_list) { return 0; }

/// The verifier gives up with EAGAIN when a signal comes.
class SignalsHeld {
 public:
  SignalsHeld() noexcept {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// A verifier that does not know what a program does refuses it with EINVAL, one that finds it too long with
/// E2BIG; a security module does with EACCES.
const char* why_refused(int error, bool paths) noexcept {
  if (error == EACCES) return ": this kernel refuses the program; use -e ring";
  if (error == ENOMEM) return ": this control group, or the machine, has too little left; use -e ring";
  if (error != EINVAL && error != E2BIG) return "";
  return paths ? ": this kernel does not accept the program; use Linux 6.1 or later, or -e ring"
               : ": this kernel does not accept the program; use Linux 5.15 or later";
}

/// libbpf takes a probe of the kernel that finds no descriptor for one that the kernel refuses, and says
/// EINVAL or the like. All that it has opened is closed again by then.
bool lacks_descriptors(const bpf_object* object) {
  constexpr size_t kProbes = 4;
  size_t needed = kProbes;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, object)++ needed;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object)++ needed;
  return !has_descriptors_left(needed);
}

bool set_constants(bpf_object* object, const BpfCounter::Settings& settings) noexcept {
  bpf_map* constants = bpf_object__find_map_by_name(object, ".rodata");
  size_t bytes = 0;
  void* image = constants == nullptr ? nullptr : const_cast<void*>(bpf_map__initial_value(constants, &bytes));
  constexpr uint64_t kBelowItsSign = UINT64_MAX >> 9;  // bit 55 says whose an address is: 0, the program's
  const bool cpu_time = settings.event.is_cpu_time();
  const uint64_t per_ms = cpu_time ? 1'000'000 / std::max<uint64_t>(settings.period, 1) : 0;
  pctally_tick_settings values{settings.filter,
                               settings.children,
                               settings.table_slots - 1,
                               !cpu_time,
                               static_cast<unsigned>(std::max<uint64_t>(per_ms, 1)),
                               unwind::without_signature(kBelowItsSign)};
  if (image == nullptr || bytes < sizeof values) return false;
  memcpy(image, &values, sizeof values);
  return true;
}

/// The ring is for the records of throttling, two in each tick of the kernel's at most: 4 pages hold 80 ms of
/// them at 1000 Hz. Ticks are not written into it: the program keeps them.
Result<PerfRing> open_event(const BpfCounter::Settings& settings, int cpu) {
  PerfSettings ring;
  ring.event = settings.event;
  ring.period = settings.period;
  ring.kernel = settings.kernel;
  ring.streams = settings.streams;
  ring.records = ring.lost_count = ring.build_ids = false;
  ring.ring_pages = 4;
  auto opened = PerfRing::open(PerfScope::machine(), cpu, ring);
  if (opened) (void)opened->add_streams(ring);  // without, its ticks come by one clock
  return opened;
}

bool set_program(const PerfRing& ring, int program) {
  bool done = ioctl(ring.fd(), PERF_EVENT_IOC_SET_BPF, program) == 0;
  for (const UniqueFd& stream : ring.streams())
    done = done && ioctl(stream.get(), PERF_EVENT_IOC_SET_BPF, program) == 0;
  return done;
}

}  // namespace

void BpfCounter::ObjectCloser::operator()(bpf_object* object) const noexcept { bpf_object__close(object); }
void BpfCounter::LinkCloser::operator()(bpf_link* link) const noexcept { bpf_link__destroy(link); }

BpfCounter::BpfCounter() = default;
BpfCounter::BpfCounter(BpfCounter&&) noexcept = default;
BpfCounter& BpfCounter::operator=(BpfCounter&&) noexcept = default;
BpfCounter::~BpfCounter() = default;

Result<BpfCounter> BpfCounter::load(const Settings& settings) {
  BpfCounter counter;
  counter.event_ = settings.event;
  counter.period_ = settings.period;
  counter.cpus_ = static_cast<size_t>(possible_cpus().back()) + 1;
  if (auto loaded = counter.load_object(settings); !loaded) return std::unexpected(loaded.error());
  if (auto mapped = counter.map_tables(); !mapped) return std::unexpected(mapped.error());
  if (auto following = counter.follow_forks(settings); !following) return std::unexpected(following.error());
  if (auto opened = counter.open_events(settings); !opened) return std::unexpected(opened.error());
  return counter;
}

Result<void> BpfCounter::probe() {
  SignalsHeld held;
  bpf_insn instructions[2] = {};
  instructions[0].code = BPF_ALU64 | BPF_MOV | BPF_K;  // r0 = 0
  instructions[1].code = BPF_JMP | BPF_EXIT;
  UniqueFd program(
      bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "pctally", "Dual MIT/GPL", instructions, 2, nullptr));
  if (!program.valid()) return fail(errno, "bpf");
  bpf_map_create_opts options{};
  options.sz = sizeof options;
  options.map_flags = BPF_F_MMAPABLE;
  UniqueFd map(
      bpf_map_create(BPF_MAP_TYPE_ARRAY, "pctally", sizeof(uint32_t), sizeof(uint64_t), 1, &options));
  if (!map.valid()) return fail(errno, "bpf");
  auto event = open_event(Settings{}, 0);
  if (!event) return std::unexpected(event.error());
  return {};
}

void BpfCounter::close() noexcept {
  events_.clear();
  forks_.reset();
  active_ = MappedFile();
  tables_ = MappedFile();
  followed_ = MappedFile();
  paths_.reset();
  object_.reset();
}

/// `types`: a file with the kernel's types, which stays there until the object is loaded; empty:
/// libbpf finds one.
Result<void> BpfCounter::open_object(const Settings& settings, const std::string& types) {
  libbpf_set_print(say_nothing);
  bpf_object_open_opts options{};
  options.sz = sizeof options;
  options.object_name = "pctally";
  if (!types.empty()) options.btf_custom_path = types.c_str();
#if PCTALLY_FOLLOWS_PATHS
  if (settings.paths)
    object_.reset(bpf_object__open_mem(kPathProgramImage, kPathProgramImageBytes, &options));
#endif
  if (!settings.paths) object_.reset(bpf_object__open_mem(kProgramImage, kProgramImageBytes, &options));
  if (object_ == nullptr) return fail(errno, "bpf: cannot read the program: %s", strerror(errno));
  return {};
}

Result<void> BpfCounter::load_object(const Settings& settings) {
  SignalsHeld held;
  auto fields = write_kernel_fields();
  std::string types = fields ? "/proc/self/fd/" + std::to_string(fields->get()) : "";
  if (auto opened = open_object(settings, types); !opened) return opened;
  auto map = [this](const char* name) { return bpf_object__find_map_by_name(object_.get(), name); };
  bool forks = settings.filter == PCTALLY_FILTER_FOLLOWED;
  bpf_map__set_max_entries(map("tables"), static_cast<uint32_t>(2 * cpus_));
  if (settings.paths)
    KernelPaths::choose_sizes(object_.get(), cpus_, settings.path_bytes,
                              settings.filter != PCTALLY_FILTER_FOLLOWED);
  bpf_map__set_max_entries(map("followed"), forks ? static_cast<uint32_t>((most_pids() + 63) / 64) : 1);
  bpf_program__set_autoload(bpf_object__find_program_by_name(object_.get(), "follow_fork"), forks);
  if (!set_constants(object_.get(), settings)) return fail(EINVAL, "bpf: the program has no settings");
  const int error = bpf_object__load(object_.get());
  if (error != 0 && lacks_descriptors(object_.get())) return too_many_files();
  if (error != 0) return fail(-error, "bpf: %s%s", strerror(-error), why_refused(-error, settings.paths));
  uint32_t first = 0;
  if (settings.filter == PCTALLY_FILTER_CGROUP &&
      bpf_map_update_elem(bpf_map__fd(map("cgroups")), &first, &settings.cgroup, BPF_ANY) != 0)
    return fail(errno, "bpf: cannot choose the control group: %s", strerror(errno));
  return {};
}

Result<void> BpfCounter::map_tables() {
  struct {
    const char* name;
    MappedFile* map;
  } const arrays[] = {{"active", &active_}, {"tables", &tables_}, {"followed", &followed_}};
  for (const auto& array : arrays) {
    auto mapped = map_array(object_.get(), array.name);
    if (!mapped) return std::unexpected(mapped.error());
    *array.map = std::move(*mapped);
  }
  if (bpf_object__find_map_by_name(object_.get(), "paths") == nullptr) return {};
  auto paths = KernelPaths::map(object_.get());
  if (!paths) return std::unexpected(paths.error());
  paths_ = std::move(*paths);
  return {};
}

Result<void> BpfCounter::follow_forks(const Settings& settings) {
  if (settings.filter != PCTALLY_FILTER_FOLLOWED) return {};
  forks_.reset(bpf_program__attach(bpf_object__find_program_by_name(object_.get(), "follow_fork")));
  if (forks_ == nullptr) return fail(errno, "bpf: cannot follow forks: %s", strerror(errno));
  return {};
}

Result<void> BpfCounter::open_events(const Settings& settings) {
  int program = bpf_program__fd(bpf_object__find_program_by_name(object_.get(), "count_tick"));
  for (size_t cpu = 0; cpu < cpus_; ++cpu) {
    auto event = open_event(settings, static_cast<int>(cpu));
    if (!event && event.error().code == ENODEV) continue;  // that CPU is offline
    if (!event && event.error().code == EMFILE) return too_many_files();
    if (!event) return std::unexpected(event.error());
    if (!set_program(*event, program)) return fail(errno, "PERF_EVENT_IOC_SET_BPF: %s", strerror(errno));
    events_.push_back({std::move(*event), cpu, ThrottleMeter(settings.event, settings.period)});
  }
  shares_.resize(cpus_);
  if (events_.empty()) return fail(ENODEV, "no CPU accepts a perf event");
  return {};
}

bool BpfCounter::follow(pid_t pid) noexcept {
  auto number = static_cast<uint64_t>(pid);
  if (pid <= 0 || number / 64 >= followed_.size() / sizeof(uint64_t)) return false;
  auto* words = reinterpret_cast<uint64_t*>(followed_.data());
  __atomic_fetch_or(words + number / 64, uint64_t{1} << (number % 64), __ATOMIC_SEQ_CST);
  return true;
}

Result<void> BpfCounter::enable(Random* random) {
  const uint64_t wait_ns = event_.is_cpu_time() ? std::min(period_, kLongestStartNs) : 0;
  const uint64_t last_start = period_ <= kLongestStartNs ? wait_ns : 0;
  uint64_t now = 0;
  std::vector<std::pair<uint64_t, int>> starts;
  for (const CpuEvent& event : events_) starts.emplace_back(random->below(last_start + 1), event.ring.fd());
  std::sort(starts.begin(), starts.end());
  for (auto [moment, event] : starts) {
    sleep_ns(moment - now);
    now = moment;
    if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0)
      return fail(errno, "PERF_EVENT_IOC_ENABLE: %s", strerror(errno));
  }
  sleep_ns(wait_ns - now);
  return {};
}

void BpfCounter::separate_ticks(bool separate) noexcept {
  separate_ = separate;
  auto* active = reinterpret_cast<uint64_t*>(active_.data());
  if (separate) __atomic_fetch_or(active, uint64_t{PCTALLY_SEPARATE}, __ATOMIC_RELAXED);
}

void BpfCounter::disable() noexcept {
  for (CpuEvent& event : events_) event.ring.disable();
  for (CpuEvent& event : events_) read_throttling(&event);
  for (CpuEvent& event : events_) event.throttle.finish(monotonic_ns());
}

void BpfCounter::divide_ticks(size_t events) noexcept {
  for (CpuEvent& event : events_) event.throttle.divide(events);
}

std::vector<PerfRing*> BpfCounter::rings_of_ticks() {
  std::vector<PerfRing*> rings;
  for (CpuEvent& event : events_) rings.push_back(&event.ring);
  return rings;
}

/// Reading a running event interrupts its CPU and waits for the answer. A CPU that answers is not inside the
/// program, or says that it is (where the program can be interrupted) and is asked again. Its next run sees
/// the new turn: the other tables are ours.
uint64_t BpfCounter::turn_over() noexcept {
  auto* active = reinterpret_cast<uint64_t*>(active_.data());
  uint64_t turn = __atomic_load_n(active, __ATOMIC_RELAXED);
  uint64_t next = ((turn & PCTALLY_TURN) ^ PCTALLY_TURN) | (separate_ ? PCTALLY_SEPARATE : 0);
  __atomic_store_n(active, next, __ATOMIC_SEQ_CST);
  for (const CpuEvent& event : events_) {
    uint64_t count[kPerfCountWords];
    while ((read(event.ring.fd(), count, sizeof count) < 0 && errno == EINTR) || is_running(event.cpu)) {
    }
  }
  return turn;
}

void BpfCounter::read_throttling(CpuEvent* event) {
  event->ring.visit([event](const unsigned char* record, size_t bytes) {
    event->throttle.apply(parse_perf_record(record, bytes));
  });
  event->ring.release();
}

double BpfCounter::take_missed() {
  double sum = 0;
  for (CpuEvent& event : events_) {
    read_throttling(&event);
    Share& share = shares_[event.cpu];
    uint32_t now = __atomic_load_n(&table(event.cpu, 0)->seen, __ATOMIC_RELAXED),
             seen = now - share.seen_before;
    double part = seen == 0 ? 0 : std::min(1.0, static_cast<double>(share.passed) / seen);
    sum += part * event.throttle.take_missed();
    share = {0, now};
  }
  return sum;
}

uint64_t BpfCounter::throttled() const noexcept {
  uint64_t sum = 0;
  for (const CpuEvent& event : events_) sum += event.throttle.stops();
  return sum;
}

bool BpfCounter::is_running(size_t cpu) const noexcept {
  return __atomic_load_n(&table(cpu, 0)->running, __ATOMIC_ACQUIRE) != 0;
}

pctally_table* BpfCounter::table(size_t cpu, uint64_t turn) const noexcept {
  return reinterpret_cast<pctally_table*>(tables_.data()) + (2 * cpu + (turn & PCTALLY_TURN));
}

uint32_t BpfCounter::used(const pctally_table& table) noexcept {
  return std::min<uint32_t>(table.used, PCTALLY_TABLE_SLOTS);
}

uint32_t BpfCounter::full_used(const pctally_table& table) noexcept {
  return std::min<uint32_t>(table.full_used, PCTALLY_TABLE_FULL);
}

void BpfCounter::account(pctally_table* table) noexcept {
  for (uint32_t i = 0; i < used(*table); ++i) {
    pctally_slot& slot = table->slots[table->order[i] & kMask];
    totals_.slots += slot.ticks;
    slot = {};
  }
  for (uint32_t i = 0; i < full_used(*table); ++i) {
    totals_.full += table->full[i].ticks;
    table->full[i] = {};
  }
  totals_.passed += table->passed;
  totals_.unowned += table->unowned;
  table->passed = table->unowned = 0;
  table->used = table->full_used = 0;
}

BpfRuns BpfCounter::runs() const noexcept {
  const bpf_program* program = bpf_object__find_program_by_name(object_.get(), "count_tick");
  bpf_prog_info info{};
  uint32_t bytes = sizeof info;
  if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0) return {};
  return {info.run_cnt, info.run_time_ns, info.recursion_misses};
}

}  // namespace pctally
