#pragma once

// Batsim's workloads: https://batsim.readthedocs.io/en/latest/input-workload.html.
//
// An object with "nb_res" (the machine's size), "jobs" (an array of objects with "id", "subtime",
// "res", "profile" and perhaps "walltime") and "profiles" (an object of them by name). A job's run
// time is that of its profile of type "delay"; of other types it depends on a platform and is not
// known. Times are cut down to whole seconds for submissions and up for durations. The file is read
// twice, for the profiles and for the jobs, whichever comes first. Thread promise and invariants:
// trace_reader.h's; besides ids, a number is remembered for each profile.

#include <memory>
#include <string>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/json_stream.h"
#include "scheduler/simulator/readers/trace_reader.h"

namespace muster::sim {

class BatsimReader final : public TraceReader {
 public:
  // Reads `source`, which has been opened at the beginning of `path`.
  static absl::StatusOr<std::unique_ptr<BatsimReader>> Begin(const std::string& path, bool lenient,
                                                             std::unique_ptr<ByteSource> source);

  [[nodiscard]] const ByteSource& source() const override { return stream_.source(); }

 private:
  BatsimReader(const std::string& path, bool lenient, std::unique_ptr<ByteSource> source)
      : TraceReader(path, lenient), stream_(path, std::move(source)) {}

  absl::StatusOr<Found> ReadOne(TraceRecord* record, absl::Status* broken) override;
  absl::Status ReadProfiles();
  absl::Status ReadProfileTable(JsonStream* stream);
  absl::Status ReadMachine(JsonStream* stream);
  absl::StatusOr<bool> FindJobs();
  absl::Status ReadJob(const JsonValue& value, TraceRecord* record);

  JsonStream stream_;
  std::unordered_map<std::string, std::int64_t> run_times_;  // by profile, s; -1: not known
  bool inside_jobs_ = false;
  bool begun_ = false;
};

}  // namespace muster::sim
