#pragma once

// The oracle: sees what really ran on the nodes and which answers clients really got, and says
// which promise was broken.
//
// It believes no state of the controller's. Thread promise: none; one thread. Invariants: the first
// broken promise is kept; later ones follow from it and are dropped.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/model/change/event.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::sim {

// A job's part on one node, as the node itself saw it.
struct Execution {
  std::string node;
  JobId job;
  AttemptNumber attempt;
  CpuSet cpus;
  Time begin = kNoTime;
  std::optional<Time> end;
  CpuSet gpus = {};                // their positions on the node
  GpuShare gpu_share = kWholeGpu;  // of each of them
};

class Oracle {
 public:
  // A part began on a node, or ended there. Broken: it ran there before; another attempt of the job
  // is running anywhere; its threads, or more of a GPU than is left of it, are another job's.
  void Began(const Execution& execution);
  void Ended(const std::string& node, JobId job, AttemptNumber attempt, Time now);
  // It is frozen, and runs again. Broken: it was not there; its threads are another job's by now.
  void Frozen(const std::string& node, JobId job, AttemptNumber attempt);
  void Thawed(const std::string& node, JobId job, AttemptNumber attempt);

  // A client got the answer that its submission is that job. Broken: it got another one before.
  void Acknowledged(const std::string& token, JobId job);

  // An operator put that older journal in place: what was acknowledged since is lost, and what
  // ended may run again, but not beside what runs. `next` is the next number of a job since.
  void Restored(const std::vector<JournalEntry>& journal, JobId next, Time now);

  // Compares the journal with the answers that clients got. Broken: an acknowledged submission is
  // not in it; a token made two; a job ended twice, or without having been submitted; a step began
  // twice; a part was ended by its time limit before any that it has had was over. With `all_over`
  // also: a job has not ended, or something still runs.
  void CheckJournal(const std::vector<JournalEntry>& journal, bool all_over);

  // The clocks that times come from differ by so much at most.
  void AllowSkew(Duration skew) { skew_ = skew; }

  void Broken(std::string what);
  [[nodiscard]] const std::optional<std::string>& broken() const { return broken_; }
  [[nodiscard]] std::size_t executions() const { return executions_.size(); }
  // Steps that waited for others of their job, by the journal that was checked.
  [[nodiscard]] std::size_t queued_steps() const { return queued_steps_; }

 private:
  using Key = std::tuple<std::string, JobId, AttemptNumber>;
  // The time limits of a job.
  struct LimitTally {
    Duration limit{0};                 // 0: none
    std::vector<Duration> others;      // of its alternatives
    Time deadline = kNoTime;           // ends it, too, whatever its limit
    Duration least = Duration::max();  // that its attempt has had
    Time started = kNoTime;
  };
  // What the journal says.
  struct Tally {
    std::map<std::string, JobId> made;                         // by token
    std::map<JobId, int> ends;                                 // how often each submitted job ended
    std::set<std::tuple<JobId, AttemptNumber, StepId>> steps;  // begun
    std::map<JobId, LimitTally> limits;                        // of what is not elastic
  };
  void CheckThreads(const Key& key);
  void CheckGpus(const Execution& execution);
  void Count(const JobSubmitted& submitted, Tally& tally);
  void Count(const JobEnded& ended, Tally& tally);
  void Count(const StepStarted& started, Tally& tally);
  static void TakeLimits(const JobSpec& spec, LimitTally& tally);
  // Of limits that change: no part ends by one that its attempt never had.
  void CountLimits(const Event& event, Tally& tally);
  void CheckLimit(const RunReported& reported, const Tally& tally);

  std::map<Key, Execution> executions_;
  std::vector<Key> running_;
  std::set<Key> frozen_;  // of those
  std::map<std::string, JobId> told_;
  std::vector<std::pair<JobId, JobId>> lost_;  // from, to: such numbers were lost with a journal
  Time restored_ = kNoTime;                    // the last time
  std::size_t queued_steps_ = 0;
  Duration skew_{0};
  std::optional<std::string> broken_;
};

}  // namespace muster::sim
