#pragma once

// Facts: what a supervisor writes into its journal about an attempt on its node, and the agent
// passes on.
//
// A fact is numbered from 1 within (job, attempt, node); the controller acknowledges the number
// once the events it caused are durable, and the agent sends again what was not acknowledged.
// Invariants: RunEnded is the last fact of an attempt on a node.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "scheduler/model/job/checkpoint_record.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

// What became of the copies that a job has on a node (JobSpec::node_data).
struct DataBrought {
  std::uint32_t found = 0;  // that the node kept
  std::uint32_t made = 0;
  std::uint64_t bytes = 0;             // of those that were made
  std::vector<std::string> gone = {};  // sources of the user's of which it keeps no copy any more
  std::string not_ahead = {};  // why none could be made before the job began; "": none was tried
  static constexpr auto Fields(auto list) {
    return list(Field{"found", &DataBrought::found}, Field{"made", &DataBrought::made},
                Field{"bytes", &DataBrought::bytes}, Field{"gone", &DataBrought::gone},
                Field{"not_ahead", &DataBrought::not_ahead});
  }
  friend bool operator==(const DataBrought&, const DataBrought&) = default;
};

// The attempt's processes on this node are under way (for a batch job's first node: the script was
// started).
struct RunStarted {
  Time time = kNoTime;
  std::uint32_t pid = 0;   // the supervisor's
  std::string limits;      // "enforced", or "not enforced (why)"
  std::string image = {};  // of its container: "sha256:…", or a file's mark; empty: it has none
  DataBrought data = {};
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &RunStarted::time}, Field{"pid", &RunStarted::pid},
                Field{"limits", &RunStarted::limits}, Field{"image", &RunStarted::image},
                Field{"data", &RunStarted::data});
  }
  friend bool operator==(const RunStarted&, const RunStarted&) = default;
};

// What was read back of ranks after they were launched.
struct BindingRead {
  Time time = kNoTime;
  std::vector<RankBinding> ranks;
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &BindingRead::time}, Field{"ranks", &BindingRead::ranks});
  }
  friend bool operator==(const BindingRead&, const BindingRead&) = default;
};

struct RankExit {
  std::uint32_t rank = 0;
  ExitStatus status;
  Time time = kNoTime;
  std::string text;  // why it could not be started, where it could not
  static constexpr auto Fields(auto list) {
    return list(Field{"rank", &RankExit::rank}, Field{"status", &RankExit::status},
                Field{"time", &RankExit::time}, Field{"text", &RankExit::text});
  }
  friend bool operator==(const RankExit&, const RankExit&) = default;
};

// A step's ranks on this node have all ended.
struct StepEnded {
  StepId step;
  Time time = kNoTime;
  std::vector<RankExit> ranks;
  Usage usage;
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &StepEnded::step}, Field{"time", &StepEnded::time},
                Field{"ranks", &StepEnded::ranks}, Field{"usage", &StepEnded::usage});
  }
  friend bool operator==(const StepEnded&, const StepEnded&) = default;
};

// The node has carried out Attempt::suspension: none of the attempt's processes here can run, or,
// `resumed`, all of them again.
struct RunSuspended {
  Time time = kNoTime;
  std::uint32_t suspension = 0;
  bool resumed = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &RunSuspended::time}, Field{"suspension", &RunSuspended::suspension},
                Field{"resumed", &RunSuspended::resumed});
  }
  friend bool operator==(const RunSuspended&, const RunSuspended&) = default;
};

// The attempt's programs here committed a checkpoint, restarted from one, or answered a notice.
struct RunCheckpointed {
  Time time = kNoTime;
  CheckpointRecord record;  // all of it as it is now
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &RunCheckpointed::time}, Field{"record", &RunCheckpointed::record});
  }
  friend bool operator==(const RunCheckpointed&, const RunCheckpointed&) = default;
};

// Nothing of the attempt is left on this node.
struct RunEnded {
  Time time = kNoTime;
  EndCause cause = EndCause::kExited;
  ExitStatus status;  // the batch script's; of a run job: the first rank that failed, else success
  Usage usage;        // everything the attempt used on this node
  std::string text;
  std::string node_fault;                    // why the node is to be drained; empty: it is not
  std::vector<RankGpuWork> gpu_work = {};    // of ranks whose GPUs have counters
  std::vector<std::string> gpu_errors = {};  // that ranks here met: a sentence each
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &RunEnded::time}, Field{"cause", &RunEnded::cause},
                Field{"status", &RunEnded::status}, Field{"usage", &RunEnded::usage},
                Field{"text", &RunEnded::text}, Field{"node_fault", &RunEnded::node_fault},
                Field{"gpu_work", &RunEnded::gpu_work}, Field{"gpu_errors", &RunEnded::gpu_errors});
  }
  friend bool operator==(const RunEnded&, const RunEnded&) = default;
};

using Fact =
    std::variant<RunStarted, BindingRead, StepEnded, RunEnded, RunSuspended, RunCheckpointed>;

struct Report {
  JobId job;
  AttemptNumber attempt;
  std::uint64_t index = 0;  // from 1
  Fact fact;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &Report::job}, Field{"attempt", &Report::attempt},
                Field{"index", &Report::index}, Field{"fact", &Report::fact});
  }
  friend bool operator==(const Report&, const Report&) = default;
};

}  // namespace muster
