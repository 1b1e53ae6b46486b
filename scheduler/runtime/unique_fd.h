#pragma once

// Sole owner of one file descriptor; closes it when it goes.
//
// Invariant: get() is -1 or a descriptor that no other code closes. Thread promise: as an int; one
// owner at a time.

#include <unistd.h>

#include <utility>

namespace muster {

class [[nodiscard]] UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset(other.release());
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // Gives the descriptor up without closing it.
  int release() { return std::exchange(fd_, -1); }

  // Closes what is held and takes `fd`. A failing close() is not retried: Linux has freed the
  // number either way.
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old >= 0) {
      close(old);
    }
  }

 private:
  int fd_ = -1;
};

}  // namespace muster
