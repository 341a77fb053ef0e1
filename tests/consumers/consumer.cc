// The same header and library from C++11, by way of a destructor.
#include <pctally/pctally.h>

#include <cstdint>
#include <cstdio>

namespace {

struct Recording {
  explicit Recording(const char* path) {
    pctally_options options = PCTALLY_OPTIONS_INIT;
    options.path = path;
    options.period_ns = 1000000;
    running = pctally_start(&options) == 0;
  }
  ~Recording() {
    if (running) pctally_stop();
  }
  bool running;
};

std::uint64_t work() {
  volatile std::uint64_t sum = 0;
  for (int i = 0; i < 20000000; ++i) sum = sum + static_cast<std::uint64_t>(i);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  Recording recording(argv[1]);
  if (!recording.running) {
    std::fprintf(stderr, "pctally_start: %s\n", pctally_error());
    return 1;
  }
  return work() == 0;
}
