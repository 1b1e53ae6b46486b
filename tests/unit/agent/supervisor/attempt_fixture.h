#pragma once

// A job attempt in a temporary directory, driven end to end: writes the order, starts the real
// muster-supervisor, waits for it and reads its journal.
//
// Thread promise: one thread. Invariant: a supervisor that a test started has ended, or is ended
// with all its job's processes, when the fixture goes.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/order_file.h"
#include "scheduler/model/job/report.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {

class AttemptFixture : public ::testing::Test {
 protected:
  AttemptFixture();
  ~AttemptFixture() override;

  // Makes `order` a batch job with `script` ("#!/bin/sh\n" is put before it).
  void Batch(const std::string& script);
  // Makes it a run job of `ranks` ranks; rank i is bound to the i-th core that we have, round and
  // round.
  void RunJob(std::vector<std::string> argv, std::uint32_t ranks);
  // A placement of that kind.
  Allocation Placement(std::uint32_t ranks) const;

  void Start();
  // Waits for the supervisor's end and returns its exit status; -1 after `timeout`.
  int Wait(std::chrono::milliseconds timeout = std::chrono::seconds(180));
  // Start, Wait, and the last report, which must be a RunEnded.
  RunEnded RunToEnd();
  std::vector<Report> Journal() const;
  // Every fact of one kind, in order.
  template <class FactType>
  std::vector<FactType> Facts() const {
    std::vector<FactType> facts;
    for (const Report& report : Journal()) {
      if (const auto* fact = std::get_if<FactType>(&report.fact)) {
        facts.push_back(*fact);
      }
    }
    return facts;
  }
  // Waits until `condition` holds; false after ten seconds.
  template <class Condition>
  static bool Eventually(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) {
        return true;
      }
      Pause();
    }
    return false;
  }
  static void Pause();
  static std::string Slurp(const std::string& path);
  std::string Output() const { return Slurp(work_ / "muster-7.out"); }

  TempDirectory state_;
  TempDirectory work_;
  AttemptDirectory directory_;
  SupervisorOrder order_;
  std::vector<std::string> environment_;  // the supervisor's own
  std::vector<std::uint32_t> cpus_;       // that we may run on
  pid_t supervisor_ = 0;
};

}  // namespace muster::agent
