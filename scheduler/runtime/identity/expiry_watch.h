#pragma once

// Logs once a day that a certificate expires soon, for daemons that run for months.
//
// The file is read again each time: once the certificate is replaced, the warnings end. Thread
// promise: one thread. Invariant: one line a day at most.

#include <chrono>
#include <string>
#include <utility>

#include "scheduler/runtime/clock.h"

namespace muster {

class ExpiryWatch {
 public:
  static constexpr std::chrono::hours kEvery{24};

  // Watches the certificate in the file `path` (empty: none). The daemon itself has logged its
  // expiry at `started`, so the first look comes a day later.
  ExpiryWatch(std::string path, Time started) : path_(std::move(path)), looked_(started) {}

  // What is to be logged now; empty: nothing. To be asked every hour or so.
  std::string Look(Time now);

 private:
  const std::string path_;
  Time looked_;
};

}  // namespace muster
