// A growing array of trivially copyable values in memory of its own: usable inside other people's programs,
// where their malloc must be left alone and libstdc++ may not exist.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <span>
#include <type_traits>

namespace pctally {

template <class T>
class MappedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  MappedArray() = default;
  MappedArray(MappedArray&& other) noexcept { swap(other); }
  MappedArray& operator=(MappedArray&& other) noexcept {
    swap(other);
    return *this;
  }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;
  ~MappedArray() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] size_t size() const noexcept { return size_; }
  T& operator[](size_t index) noexcept { return data_[index]; }
  const T& operator[](size_t index) const noexcept { return data_[index]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  void clear() noexcept { size_ = 0; }

  /// Puts `value` before `index`; false when memory is refused, and nothing has changed.
  [[nodiscard]] bool insert(size_t index, const T& value) noexcept {
    if (!reserve(size_ + 1)) return false;
    for (size_t i = size_; i > index; --i) data_[i] = data_[i - 1];
    data_[index] = value;
    ++size_;
    return true;
  }
  [[nodiscard]] bool push_back(const T& value) noexcept { return insert(size_, value); }
  void erase(size_t index) noexcept {
    for (size_t i = index; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }
  /// Makes it `count` values long. New ones are zero, but where there were values before.
  [[nodiscard]] bool resize(size_t count) noexcept {
    if (!reserve(count)) return false;
    size_ = count;
    return true;
  }
  [[nodiscard]] bool assign(std::span<const T> values) noexcept {
    if (!reserve(values.size())) return false;
    for (size_t i = 0; i < values.size(); ++i) data_[i] = values[i];
    size_ = values.size();
    return true;
  }
  /// Makes room for `count` values in all.
  [[nodiscard]] bool reserve(size_t count) noexcept {
    if (count > SIZE_MAX / 2 / sizeof(T)) return false;  // no machine has more, and `bytes` would wrap
    if (count * sizeof(T) <= bytes_) return true;
    size_t bytes = 4096;
    while (bytes < count * sizeof(T)) bytes *= 2;
    void* memory = data_ == nullptr
                       ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED) return false;
    data_ = static_cast<T*>(memory);
    bytes_ = bytes;
    return true;
  }

 private:
  void swap(MappedArray& other) noexcept {
    T* data = data_;
    size_t size = size_, bytes = bytes_;
    data_ = other.data_, size_ = other.size_, bytes_ = other.bytes_;
    other.data_ = data, other.size_ = size, other.bytes_ = bytes;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace pctally
