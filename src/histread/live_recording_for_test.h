// A profile file in a directory of its own with threads counting into it as fast as they can. For tests only.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "histfile/fresh_file_for_test.h"
#include "histfile/histogram.h"
#include "tick/tick.h"

namespace pctally {

class LiveRecording {
 public:
  static constexpr uint64_t kText = 1 << 17;

  LiveRecording() {
    file_.header().state = FileState::kRecording;
    file_.beat();
  }
  LiveRecording(const LiveRecording&) = delete;
  LiveRecording& operator=(const LiveRecording&) = delete;
  ~LiveRecording() { stop(); }

  ProfileFile& file() { return file_; }
  [[nodiscard]] const std::string& path() const { return fresh_.path(); }
  [[nodiscard]] std::string beside(const char* name) const { return fresh_.beside(name); }

  /// A table over a new object and a new process; `region` lives as long as the table.
  RegionTable table(const char* name, Region* region, uint64_t bytes = kText) {
    ObjectIdentity object;
    object.path = name;
    uint32_t segment = find_or_add_segment(file_, find_or_add_object(file_, object), 0, bytes);
    *region = tree_region(file_.pool(), 0, bytes - 1, segment, 0);
    seal_regions(region, 1);
    RegionTable table{};
    table.regions = region;
    table.count = 1;
    table.pool = file_.pool();
    table.ledger = &file_.header().ledger;
    uint32_t process = add_process(file_, ++pid_, 1, name, "timer");
    table.process_ticks = process == 0 ? nullptr : &pool_at<ProcessRecord>(file_.pool(), process)->ticks;
    return table;
  }

  /// Threads that tick at ever new places, now and then outside, each with `pause_ns` between two ticks; one
  /// more adds objects.
  void start(unsigned threads, uint64_t pause_ns = 0) {
    set_pause(pause_ns);
    regions_.resize(threads);
    for (unsigned i = 0; i < threads; ++i)
      threads_.emplace_back([this, i, table = table("busy", &regions_[i])] {
        for (uint64_t n = i; !stop_; n += 7, started_ |= 1u << i) {
          tick(table, n % 97 == 0 ? kText + 5 : n * 0x9e3779b9u % kText, 1 + n % 3);
          for (uint64_t start = monotonic_ns(); !stop_ && monotonic_ns() - start < pause_ns_;) continue;
        }
      });
    threads_.emplace_back([this] {
      Region region;
      for (unsigned n = 0; !stop_ && n < 4000; ++n) {
        tick(table(std::to_string(n).c_str(), &region, 64), 9, 1);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    });
    while (started_ != (1u << threads) - 1) std::this_thread::yield();
  }
  /// Between two ticks of each thread, from now on.
  void set_pause(uint64_t ns) { pause_ns_ = ns; }
  void stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  FreshFile fresh_{{.engine = "timer", .period_asked_ns = 1000000, .period_ns = 1000000, .deferred = true}};
  ProfileFile& file_ = fresh_.file();
  std::vector<Region> regions_;
  std::vector<std::thread> threads_;
  std::atomic<uint64_t> pause_ns_ = 0;
  std::atomic<bool> stop_ = false;
  std::atomic<unsigned> started_ = 0;  // a bit per thread
  int32_t pid_ = 0;
};

}  // namespace pctally
