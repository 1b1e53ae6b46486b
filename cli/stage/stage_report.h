#pragma once

// Says to the job's supervisor how far copies are: bytes that are done, of how many, and how fast.
//
// Thread promise: one owner. Invariants: it says something at most once a second; outside of a job
// it says nothing; no failure to say it stops a copy.

#include <cstdint>
#include <string>

#include "scheduler/runtime/clock.h"

namespace muster::cli {

// The names of what is said, as muster show --curve shows them.
inline constexpr const char* kStagedBytes = "stage/bytes";
inline constexpr const char* kStagedTotal = "stage/total_bytes";
inline constexpr const char* kStagedRate = "stage/bytes_each_second";

class StageReport {
 public:
  // `socket` is $MUSTER_REPORT_SOCKET; "": there is none.
  StageReport(std::string socket, const Clock& clock);

  // Of the pair that is being copied.
  void Tell(std::uint64_t done, std::uint64_t total);
  // It is copied, whole.
  void EndPair();

 private:
  void Say();

  const std::string socket_;
  const Clock& clock_;
  const SteadyTime begun_;
  SteadyTime next_;
  std::uint64_t before_ = 0;  // bytes of the pairs before
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace muster::cli
