#pragma once

// Calls the programs that switch nodes off and on, beside the controller's loop.
//
// A program runs as the user of its class, or as the controller does, in a session of its own, with
// what it prints in the controller's log. Thread promise: Call from any thread; it returns at once.
// Invariants: nobody waits for a program but the thread of this class; one that takes longer than
// its limit is ended with all that it started; programs still running when this is destroyed go on.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/power/power_user.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// A job that waits for nodes to be switched on.
struct ResumedFor {
  JobId job;
  std::string partition;
  std::vector<std::string> nodes;  // all of its place
  std::string features = {};       // that it asks its nodes for; empty: none
  std::string reservation = {};    // that it runs in; empty: none
  bool shares = true;              // its nodes with other jobs
};

struct PowerCall {
  std::string program;
  std::string user = {};  // as whom; empty: as we do
  bool on = false;
  std::vector<std::string> nodes;
  std::vector<ResumedFor> jobs;  // `on`: that wait for some of the nodes
  Duration limit{0};
};

// The file that SLURM_RESUME_FILE names: {"all_nodes_resume": "n[1-2]", "jobs": [{"job_id": …}]},
// of each job the keys that Slurm writes.
std::string ResumeFileText(const PowerCall& call);

class PowerPrograms {
 public:
  // `directory`: for the files of calls under way; made when it is needed.
  PowerPrograms(std::string directory, const Logger& log);
  ~PowerPrograms();
  PowerPrograms(const PowerPrograms&) = delete;
  PowerPrograms& operator=(const PowerPrograms&) = delete;

  void Call(PowerCall call);

 private:
  struct Child {
    std::string what;  // for the log
    std::string file;  // that goes when it ends
    std::chrono::steady_clock::time_point limit;
    bool killed = false;
  };
  void Loop();
  void Start(const PowerCall& call);
  // The path of the file that SLURM_RESUME_FILE names, for that user or for ours.
  absl::StatusOr<std::string> WriteResumeFile(const PowerCall& call,
                                              const std::optional<PowerUser>& user);
  void Reap();

  const std::string directory_;
  const Logger& log_;
  std::uint64_t calls_ = 0;
  std::map<pid_t, Child> children_;  // of the thread alone, as is calls_
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PowerCall> waiting_;  // by mutex_
  bool ends_ = false;               // by mutex_
  std::thread thread_;              // begins with the first call
};

}  // namespace muster::daemon
