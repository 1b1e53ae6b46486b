// Workload logs: whatever the bytes, the reader ends, and what it accepts simulates to a schedule
// in which every job starts no earlier than it came.
// Returns 1 when an invariant is broken; crashes are the sanitizers' to find.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "scheduler/simulator/flat/flat_simulation.h"

namespace {

class Rows final : public muster::sim::FlatObserver {
 public:
  absl::Status Begin(std::int64_t processors) override {
    (void)processors;
    return absl::OkStatus();
  }
  absl::Status Ended(const muster::sim::ScheduleRow& row) override {
    legal = legal && row.starting_time >= row.submission_time && row.execution_time > 0;
    return absl::OkStatus();
  }
  bool KeepGoing(const muster::sim::FlatProgress& progress) override {
    (void)progress;
    return true;
  }

  bool legal = true;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("log", MFD_CLOEXEC);
  if (fd == -1 || write(fd, data, size) != static_cast<ssize_t>(size)) {
    return 1;
  }
  muster::sim::FlatRun run;
  run.trace = "/proc/self/fd/" + std::to_string(fd);
  run.format = muster::sim::TraceFormat::kSwf;
  run.processors = 8;
  run.lenient = size % 2 == 0;
  run.policy.backfill = size % 3 == 0 ? muster::Backfill::kConservative : muster::Backfill::kEasy;
  Rows rows;
  const absl::StatusOr<muster::sim::FlatResult> result = muster::sim::SimulateFlat(run, rows);
  close(fd);
  const bool counted = !result.ok() || result->jobs == result->ended;
  return rows.legal && counted ? 0 : 1;
}
