#pragma once

// The file system to which all jobs of a simulated cluster write their checkpoints.
//
// Its bandwidth is shared evenly by the jobs that write at a moment; none gets more than its own
// nodes can send. With a number of writers given, no more write at once, and the others are given
// their turns in order of what they would lose: the most work first, ties to the lower job. Whole
// bytes and seconds: a share is rounded down, a writer is done at the next whole second. Thread
// promise: a value; one thread at a time. Invariants: time does not go back; the shares of those
// that write add up to no more than the bandwidth.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "scheduler/model/value/ids.h"

namespace muster::sim {

struct FileSystem {
  std::int64_t bandwidth = 0;  // bytes a second; 0: none, a checkpoint takes its job's own cost
  std::int64_t per_node = 0;   // bytes a second from one node; 0: no limit
  std::uint32_t writers = 0;   // at once; 0: no limit

  // How long a checkpoint of that many bytes from that many nodes takes alone: at least a second.
  [[nodiscard]] std::int64_t AloneFor(std::int64_t bytes, std::int64_t nodes) const;
};

class SharedFileSystem {
 public:
  using Tick = std::int64_t;
  static constexpr Tick kNever = INT64_MAX;

  explicit SharedFileSystem(const FileSystem& system) : system_(system) {}

  // Time goes on. REQUIRES: no writer is done before `now`.
  void Advance(Tick now);
  // The job wants to write `bytes` from `nodes` nodes; `at_risk` is what it would lose by now.
  // REQUIRES: it neither writes nor waits; bytes > 0.
  void Ask(JobId job, std::int64_t bytes, std::int64_t nodes, std::int64_t at_risk);
  // A job whose turn has come and that does not know it yet; it writes from now on.
  std::optional<JobId> Admit();
  // The next to be done, and when; kNever where no job writes.
  [[nodiscard]] std::pair<Tick, JobId> NextDone() const;
  // The job writes and waits no more, done or not.
  void Leave(JobId job);

 private:
  struct Write {
    std::int64_t left = 0;   // bytes
    std::int64_t limit = 0;  // bytes a second that its nodes can send
    std::int64_t share = 0;  // bytes a second that it gets
  };
  struct Asked {
    std::int64_t bytes = 0;
    std::int64_t nodes = 0;
    std::int64_t at_risk = 0;
  };

  void Share();

  FileSystem system_;
  Tick now_ = 0;
  std::map<JobId, Write> writing_;
  std::map<JobId, Asked> asked_;
  std::set<std::pair<std::int64_t, JobId>> turns_;  // less what is at risk, and the job
};

}  // namespace muster::sim
