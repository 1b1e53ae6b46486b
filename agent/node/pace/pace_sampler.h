#pragma once

// How fast the ranks of running attempts and the GPUs of this node have been over the last minute:
// what stragglers are found by, beside the ranks of other nodes.
//
// A rank's processes are the one that was launched as the rank and all below it. What its GPUs'
// performance counters say is what these GPUs did, whoever used them, between two looks at which it
// was there; the sums go into the attempt's record (gpu_record.h). Thread promise: the loop's
// thread. Invariants: a process counts only below its attempt's supervisor, so that a number that
// was given again says nothing; what cannot be read is not told.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/place/state_directory.h"
#include "agent/attempts/running_attempt.h"
#include "agent/node/pace/gpu_record.h"
#include "agent/node/pace/pace_window.h"
#include "agent/node/pace/rank_list.h"
#include "agent/node/pace/thread_times.h"
#include "agent/node/process_table.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/runtime/clock.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::agent {

class PaceSampler {
 public:
  using Running = std::map<AttemptKey, RunningAttempt>;

  // `state` outlives the sampler.
  explicit PaceSampler(StateDirectory& state, std::string proc = "/proc",
                       std::string cpus = "/sys/devices/system/cpu")
      : state_(state), proc_(std::move(proc)), cpus_(std::move(cpus)) {}

  // Looks at the ranks that run here; `gpus` were read just now. `wall` is now, too.
  void Sample(const Running& running, const std::vector<topology::GpuReading>& gpus, SteadyTime now,
              Time wall);

  // Of those that were there at the last two looks; by step and rank.
  [[nodiscard]] std::map<AttemptKey, std::vector<RankPace>> ranks() const;
  // Nothing: it was looked at once at most.
  [[nodiscard]] std::optional<GpuPace> PaceOf(const std::string& gpu) const;
  // Into the record of an attempt that runs here.
  void AddErrors(const AttemptKey& key, const std::vector<std::string>& texts);
  // Between the last two looks; nothing: it has no counters, or was looked at once at most.
  [[nodiscard]] std::optional<GpuWork> WorkOf(const std::string& gpu) const;

 private:
  struct SeenRank {
    pid_t pid = 0;
    std::optional<ThreadTimes> threads;  // at the last look
    RankWindow window;
  };
  struct SeenAttempt {
    RankList list;
    std::map<RankName, SeenRank> ranks;
    GpuRecord record = {};
    bool script = false;  // it was there at the last look
  };
  using Processes = std::map<pid_t, std::vector<pid_t>>;  // of a rank, by its first

  void SampleGpus(const std::vector<topology::GpuReading>& gpus, Duration span);
  static Processes ProcessesOf(const std::map<RankName, RankHere>& here, pid_t supervisor,
                               const ProcessTable& table);
  // False: it was not there at the last look.
  bool Look(const RankHere& here, const std::vector<pid_t>& processes, Duration span,
            SeenRank& rank) const;
  void LookAt(const AttemptKey& key, const RunningAttempt& attempt, Duration span, Time wall,
              std::optional<ProcessTable>& table);
  void AddWork(const RankName& name, const RankHere& here, GpuRecord& record) const;

  StateDirectory& state_;
  const std::string proc_;
  const std::string cpus_;
  std::optional<SteadyTime> last_;
  std::map<std::uint32_t, CpuTicks> ticks_before_;
  std::map<std::uint32_t, CpuTicks> ticks_;
  std::map<AttemptKey, SeenAttempt> attempts_;
  std::map<std::string, GpuWindow> gpus_;  // by UUID, as what follows
  std::map<std::string, GpuWork> worked_;
};

}  // namespace muster::agent
