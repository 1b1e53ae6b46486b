#pragma once

// Moments, durations and amounts as Slurm writes them.
//
// Pure. Invariant: an amount of memory is exact, in the largest unit of which it is a whole number:
// "4G", "1536M".

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "cli/frame/environment.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::cli::slurm {

// How moments are written: SLURM_TIME_FORMAT, in the zone of TZ.
class Clockface {
 public:
  Clockface() = default;
  explicit Clockface(const Environment& environment);
  // `none` for kNoTime: "N/A", "Unknown".
  [[nodiscard]] std::string Text(Time time, const std::string& none) const;
  [[nodiscard]] absl::TimeZone zone() const { return zone_; }

 private:
  std::string format_ = "%Y-%m-%dT%H:%M:%S";
  absl::TimeZone zone_ = absl::UTCTimeZone();
};

// A share of CPU time, sacct's: "00:01.234", "01:02:03".
std::string CpuDuration(Duration duration);

// What of a trackable resource: "cpu=4,mem=8G,node=1,billing=4,gres/gpu=1".
std::string TresText(std::uint32_t cpus, Bytes memory, std::uint32_t nodes, std::uint32_t gpus);

}  // namespace muster::cli::slurm
