#pragma once

// Says once a day that a certificate ends soon, for daemons that run for months.
//
// The file is read anew each time: who replaces the certificate in time hears no more of it. Thread
// promise: one thread. Invariant: one line a day at most.

#include <chrono>
#include <string>

#include "scheduler/runtime/clock.h"

namespace muster {

class ExpiryWatch {
 public:
  static constexpr std::chrono::hours kEvery{24};

  // The certificate in the file `path`, of which its daemon spoke itself at `started`; empty: none.
  ExpiryWatch(std::string path, Time started) : path_(std::move(path)), looked_(started) {}

  // What is to be logged now; empty: nothing. To be asked every hour or so.
  std::string Look(Time now);

 private:
  const std::string path_;
  Time looked_;
};

}  // namespace muster
