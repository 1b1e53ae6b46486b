#pragma once

// The places of inner ranks on this node: those that a launcher inside the job starts and not we.
//
// Each asks on a socket that its user may reach, before its exec (inner_rank_wire.h). One of as
// many as the plan has ranks here gets the place of the planned rank of its local number, within
// what its launcher may run on; any other may run on all of that. What its launcher has bound by
// itself stays so. Then it is read back as our own ranks are. Thread promise: the loop's thread.
// Invariants: (1) only processes below this one are listened to, and nothing that they say is
// believed but their numbers; (2) each is reported once, after its exec; (3) at most
// kReportsMax are.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/attempt/reporter.h"
#include "agent/supervisor/mpirun/launcher_environment.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"
#include "topology/bind/read_back.h"

namespace muster::agent {

// A connection by a process of this supervisor's job; without a socket: there is none.
struct JobPeer {
  UniqueFd socket;
  pid_t pid = 0;
};
// Takes the next one that waits at the listener; one of any other process is closed.
JobPeer AcceptFromJob(int listener);

class InnerRanks {
 public:
  static constexpr std::size_t kReportsMax = 4096;

  struct Host {
    EventLoop& loop;
    const Clock& clock;
    const SupervisorOrder& order;
    Reporter& reporter;
    std::uint32_t node_index = 0;
    const JobUser* user = nullptr;  // as whom the job runs; null: as we do
  };

  static absl::StatusOr<std::unique_ptr<InnerRanks>> Open(Host host, const std::string& path);
  InnerRanks(const InnerRanks&) = delete;
  InnerRanks& operator=(const InnerRanks&) = delete;
  ~InnerRanks();

  // A program starts that may be a launcher whose ranks do not ask: looks for them for some time.
  // `certain`: it is, so that to have found none is reported.
  void LookFor(bool certain);

  // No process is left: reports those that were not yet.
  void Close();

 private:
  struct Asking {
    UniqueFd socket;  // kept until it is reported: its number names this
    pid_t pid = 0;
    InnerRank rank;
    bool answered = false;
    std::optional<topology::KernelBinding> self;  // what it reported of itself before its exec
    int tries_left = 8;                           // a millisecond apart, while the exec completes
  };

  InnerRanks(Host host, UniqueFd listener);
  [[nodiscard]] const NodeAllocation& Node() const;
  void Accept();
  void Serve(int fd);
  bool Answer(Asking& asking, const std::string& packet) const;
  void AfterExec(int fd);
  void Settle(const Asking& asking, topology::ObservedBinding found);
  void Look();
  void Report(const InnerRank& rank, pid_t pid, const topology::ObservedBinding& found);
  void ReportUnread();
  void Send(RankBinding binding);
  [[nodiscard]] topology::PlannedBinding PlanOf(const InnerRank& rank,
                                                const topology::ObservedBinding& found) const;
  [[nodiscard]] std::string TextOf(const InnerRank& rank) const;

  const Host host_;
  UniqueFd listener_;
  std::map<int, Asking> asking_;
  std::size_t reported_ = 0;
  std::set<pid_t> seen_;  // of those that were looked for
  int looks_ = 0;
  bool looking_ = false;
  bool expected_ = false;  // and none was found since
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace muster::agent
