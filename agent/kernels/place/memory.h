#pragma once

// Memory for kernels: how much this process may still take, and arrays that are aligned and left
// untouched so that the thread that first writes a page decides on which NUMA node it lies.
//
// Thread promise: AvailableBytes reads files only; an Aligned array belongs to one owner, its
// elements to all. Invariant: data() is aligned to kAlignment bytes at least.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace muster::kernels {

constexpr int64_t kAlignment = 64;

// Bytes this process can use: MemAvailable, bounded by what its memory cgroup (v2 or v1, and their
// parents) has left. `root` is put before /proc and /sys (tests give a directory). 0 when nothing
// can be read.
int64_t AvailableBytes(const std::string& root = "");

// `bytes` of uninitialised memory aligned to kAlignment at least, null when refused; large blocks
// ask for huge pages. Give it back with std::free. REQUIRES: 0 <= bytes < 2^61.
void* AllocateAligned(int64_t bytes);

// Fixed-size array, uninitialised.
template <class T>
class Aligned {
 public:
  // Takes `size` elements; data() is null when the memory is refused. REQUIRES: 0 <= size < 2^58.
  explicit Aligned(int64_t size)
      : size_(size),
        data_(static_cast<T*>(AllocateAligned(size * static_cast<int64_t>(sizeof(T))))) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };

  int64_t size_;
  std::unique_ptr<T, Free> data_;
};

using AlignedArray = Aligned<double>;

}  // namespace muster::kernels
