#pragma once

// Remote shells outside for launchers in a container: an `mpirun` there starts its daemons on the
// job's other nodes by muster-rsh, whose programs the container does not have.
//
// Who asks is a process of this job, and what runs is muster-rsh alone, as the job's user, in the
// attempt's control group, with the script's environment but for the asker's variables MUSTER_...:
// nothing that the user could not have from outside. It has the asker's streams; the asker's end is
// its end. What it runs on the other node is in the container that the asker is in here. Thread
// promise: the loop's thread. Invariant: a process that has not been reaped is signalled, and no
// other.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/user_space/job_user.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class RemoteShells {
 public:
  // Of the attempt; all of it outlives this.
  struct Host {
    EventLoop& loop;
    const Logger& log;
    const SupervisorOrder& order;
    std::uint32_t node_index = 0;
    const JobUser* user = nullptr;  // null: it runs as we do
    const AttemptCgroup* cgroup = nullptr;
    int mounts = -1;
    std::function<ContainerSpec(pid_t)> container_of;  // that a process of a step runs in
  };

  // Listens beside the ranks' socket.
  static absl::StatusOr<std::unique_ptr<RemoteShells>> Open(const Host& host);
  RemoteShells(const RemoteShells&) = delete;
  RemoteShells& operator=(const RemoteShells&) = delete;
  ~RemoteShells();

  // A child has been reaped; it may be one of ours.
  void Reaped(pid_t pid, int wait_status);

 private:
  struct Asking {
    UniqueFd socket;
    pid_t asker = 0;
    pid_t child = 0;  // 0: none was started
    UniqueFd said;    // how its start went, which its exit status tells, too
  };

  RemoteShells(const Host& host, UniqueFd listener);
  void Accept();
  void Serve(int fd);
  absl::Status Start(Asking* asking, const std::vector<std::string>& asked,
                     const std::vector<UniqueFd>& streams) const;

  const Host host_;
  UniqueFd listener_;
  std::map<int, Asking> asking_;
};

}  // namespace muster::agent
