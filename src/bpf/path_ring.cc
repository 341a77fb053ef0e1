#include "bpf/path_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

namespace pctally {
namespace {

constexpr uint32_t kBusy = 1u << 31, kDiscarded = 1u << 30;
constexpr size_t kHeader = 8;  ///< length and flags, and a number of the kernel's

size_t page_bytes() noexcept { return static_cast<size_t>(getpagesize()); }

}  // namespace

/// A page with the reader's position, which alone may be written; one with the kernel's; the ring, twice.
Result<PathRing> PathRing::map(int fd, size_t bytes) {
  PathRing ring;
  auto consumer = MappedFile::map(fd, page_bytes(), true);
  if (!consumer) return std::unexpected(consumer.error());
  auto all = MappedFile::map(fd, 2 * page_bytes() + 2 * bytes, false);
  if (!all) return std::unexpected(all.error());
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  ring.wake_ups_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!ring.wake_ups_.valid() || epoll_ctl(ring.wake_ups_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return fail(errno, "epoll: %s", strerror(errno));
  ring.bytes_ = bytes;
  ring.consumer_ = std::move(*consumer);
  ring.all_ = std::move(*all);
  return ring;
}

void PathRing::take_wake_up() noexcept {
  epoll_event event{};
  if (wake_ups_.valid()) (void)epoll_wait(wake_ups_.get(), &event, 1, 0);
}

uint64_t PathRing::produced() const noexcept {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(all_.data() + page_bytes()), __ATOMIC_ACQUIRE);
}

/// Null at one that is still being written, too.
const pctally_path* PathRing::next() noexcept {
  if (bytes_ == 0) return nullptr;
  for (const uint64_t end = produced(); at_ < end;) {
    const unsigned char* record = all_.data() + 2 * page_bytes() + (at_ & (bytes_ - 1));
    const uint32_t header = __atomic_load_n(reinterpret_cast<const uint32_t*>(record), __ATOMIC_ACQUIRE);
    if ((header & kBusy) != 0) return nullptr;
    at_ += ((header & ~kDiscarded) + kHeader + 7) & ~uint64_t{7};
    if ((header & kDiscarded) == 0) return reinterpret_cast<const pctally_path*>(record + kHeader);
  }
  return nullptr;
}

void PathRing::release() noexcept {
  if (bytes_ != 0) __atomic_store_n(reinterpret_cast<uint64_t*>(consumer_.data()), at_, __ATOMIC_RELEASE);
}

}  // namespace pctally
