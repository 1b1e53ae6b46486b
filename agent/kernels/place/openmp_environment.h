#pragma once

// What OMP_NUM_THREADS may hold. OpenMP's runtime reads it before main and answers a bad value with
// a warning of its own and a default team; a measurement with another team than the one asked for
// is worthless, so kernels refuse.
//
// Invariant: needs no library call, because it runs before any library is initialised.

namespace muster::kernels {

constexpr int kMaxThreads = 4096;

// Whether `text` is a list of team sizes, each in 1..kMaxThreads ("4", "2,8", blanks allowed).
[[gnu::always_inline]] constexpr bool IsThreadList(const char* text) {
  while (true) {
    while (*text == ' ') {
      ++text;
    }
    int value = 0;
    while (*text >= '0' && *text <= '9' && value <= kMaxThreads) {
      value = value * 10 + (*text - '0');
      ++text;
    }
    while (*text == ' ') {
      ++text;
    }
    if (value < 1 || value > kMaxThreads || (*text != ',' && *text != '\0')) {
      return false;
    }
    if (*text == '\0') {
      return true;
    }
    ++text;
  }
}

}  // namespace muster::kernels
