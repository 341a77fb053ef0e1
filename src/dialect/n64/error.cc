#include "dialect/n64/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file/quiet_write.h"
#include "histfile/profile_file.h"
#include "pctally/n64.h"

namespace pctally::n64 {
namespace {

constexpr const char* kMessages[] = {
    "osProfileInit: profile counter is running, call osProfileStop before init",
    "osProfileInit: profcnt is %d",
    "osProfileInit: histo_base pointer must be 32-bit aligned (%x)",
    "osProfileInit: text_start (%x) >= text_end (%x)",
    "osProfileInit: histo_size is an illegal size (%d)",
    "osProfileStart: microseconds is < PROF_MIN_INTERVAL (%d)",
    "osProfileStart: profiling has already been started",
    "osProfileStop: profiling has already been stopped",
    "osProfileStop: no profile timer to stop",
};

/// The console's: 46.875 MHz, 32 bits.
uint32_t cpu_count() noexcept { return static_cast<uint32_t>(monotonic_ns() / 64 * 3); }

struct Line {
  char text[256];
  size_t length = 0;

  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
    if (added > 0) length += static_cast<size_t>(added);
    if (length >= sizeof text) length = sizeof text - 1;
  }
};

/// %d takes an int, %x a pointer.
void add_message(Line* line, const char* message, va_list arguments) noexcept {
  for (; *message != '\0'; ++message) {
    if (*message != '%') {
      line->add("%c", *message);
      continue;
    }
    ++message;
    if (*message == 'd') line->add("%d", va_arg(arguments, int));
    if (*message == 'x') line->add("%lx", reinterpret_cast<unsigned long>(va_arg(arguments, void*)));
  }
}

// The console's type of a handler: what follows a short lies where it would follow the int it is passed
// as, on every machine there is.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wvarargs"

/// The handler a program starts with. A code that is not one of these has no text.
void print_error(int16_t code, int16_t count, ...) {
  Line line;
  line.add("0x%08X (%04d):", cpu_count(), code);
  va_list arguments;
  va_start(arguments, count);
  if (code >= PCTALLY_N64_INIT_STR && code <= PCTALLY_N64_STOP_TIMER)
    add_message(&line, kMessages[code - PCTALLY_N64_INIT_STR], arguments);
  va_end(arguments);
  line.add("\n");
  (void)write_quietly(STDERR_FILENO, line.text, line.length);  // there is nowhere else to say it
}

#pragma GCC diagnostic pop

pctally_n64_error_handler g_handler = print_error;

}  // namespace

void report(const Complaint& complaint) noexcept {
  pctally_n64_error_handler handler = __atomic_load_n(&g_handler, __ATOMIC_ACQUIRE);
  switch (complaint.code) {
    case 0:
      return;
    case PCTALLY_N64_INIT_CNT:
    case PCTALLY_N64_INIT_SIZ:
    case PCTALLY_N64_START_TIME:
      return handler(complaint.code, 1, complaint.number);
    case PCTALLY_N64_INIT_ALN:
      return handler(complaint.code, 1, complaint.first);
    case PCTALLY_N64_INIT_ORD:
      return handler(complaint.code, 2, complaint.first, complaint.second);
    default:
      return handler(complaint.code, 0);
  }
}

}  // namespace pctally::n64

extern "C" __attribute__((visibility("default"))) pctally_n64_error_handler osSetErrorHandler(
    pctally_n64_error_handler handler) {
  using namespace pctally::n64;
  if (handler == nullptr) handler = print_error;
  return __atomic_exchange_n(&g_handler, handler, __ATOMIC_ACQ_REL);
}
