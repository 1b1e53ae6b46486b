#pragma once

// The control daemons of CUDA's Multi-Process Service that this agent starts for jobs which share
// GPUs, and ends when no job needs them any more.
//
// One daemon for a user and a set of GPUs: an error of one client ends all clients of its server
// (NVIDIA, "Multi-Process Service", section 2.2.3), so that no user's error ends another's job.
// Each runs as its user, with its pipes in BASE/UID-GPUS, a directory of that user, in which
// nothing is done but by processes that have become the user. The daemons outlive the agent, as
// jobs do: the next one finds their directories. Where the site runs MPS itself, or has none,
// nothing is started. Thread promise: the owner thread's; nothing waits. Invariants: no daemon ends
// that Keep counts as used; no job is given one that was told to end.

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/attempts/children.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class MpsDaemons {
 public:
  struct Config {
    std::string supervisor;                // the program, which becomes the user
    std::vector<std::string> environment;  // what it is started with
    std::string base;                      // of this agent alone; empty: nothing is started
  };
  MpsDaemons(const Logger& log, Children& children, Config config);

  // The pipe directory of the daemon for a job of `uid` that shares the node's GPUs in `part`; one
  // is started if none runs. Empty: there is none, and the log says why.
  std::string Serve(uid_t uid, gid_t gid, const Machine& machine, const NodeAllocation& part);

  // Whether the directory is one of those.
  [[nodiscard]] bool IsOurs(const std::string& directory) const;

  // Whether any directory is left to keep or to end.
  [[nodiscard]] bool any() const { return !known_.empty(); }

  // Ends the daemons of all directories but `used`. Called every few seconds.
  void Keep(const std::set<std::string>& used);

 private:
  bool StillSafe(const std::string& found) const;
  [[nodiscard]] std::string Unleft(const std::string& directory) const;
  absl::Status MakeDirectory(const std::string& directory, uid_t uid, gid_t gid) const;
  absl::StatusOr<pid_t> Run(const char* what, const std::string& directory,
                            const std::string& gpus);
  bool Remove(const std::string& directory, int tries);

  const Logger& log_;
  Children& children_;
  const Config config_;
  std::map<std::string, int> known_;      // directories, and how often they were to go
  std::map<std::string, pid_t> running_;  // processes that we started and that have not ended
};

// Where an agent keeps such directories: of root's agent below /run, of another's below its user's
// runtime directory or, without one, /tmp. Empty, where `program` is not along PATH.
std::string MpsBase(const std::string& node, const std::string& path,
                    const std::string& runtime_directory);

}  // namespace muster::agent
