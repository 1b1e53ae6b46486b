#pragma once

// Memory for kernels: how much this process may still take, and arrays that are aligned and left
// untouched so that the thread that first writes a page decides on which NUMA node it lies.
//
// Thread promise: AvailableBytes reads files only; an AlignedArray belongs to one owner, its
// elements to all. Invariant: data() is aligned to kAlignment bytes at least.

#include <cstdint>
#include <memory>
#include <string>

namespace muster::kernels {

constexpr int64_t kAlignment = 64;

// Bytes this process can use: MemAvailable, bounded by what its memory cgroup (v2 or v1, and their
// parents) has left. `root` is put before /proc and /sys (tests give a directory). 0 when nothing
// can be read.
int64_t AvailableBytes(const std::string& root = "");

// Fixed-size array of doubles, uninitialised. Large arrays ask for huge pages.
class AlignedArray {
 public:
  // Takes `size` doubles; data() is null when the memory is refused. REQUIRES: 0 <= size < 2^58.
  explicit AlignedArray(int64_t size);

  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(double* data) const;
  };

  int64_t size_;
  std::unique_ptr<double, Free> data_;
};

}  // namespace muster::kernels
