#pragma once

// Lets logins of the job's user into the attempt: answers what pam_muster asks on a socket in the
// attempt's directory, and ends the sessions with the attempt.
//
// A session is no child of ours. It moves itself into a group inside the attempt's, by a descriptor
// that we hand out, so there is one place that says who may enter, and the group holds and counts
// it with the job. Thread promise: the loop's thread. Invariants: (1) only root (or our own user)
// is answered, and only about the job's user; (2) after Ended() none enters any more; (3) at most
// kConnectionsMax connections are open, none for longer than kAskWithin.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/limits/cgroup.h"
#include "agent/supervisor/sessions/session_packet.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class SessionDesk {
 public:
  static constexpr std::size_t kConnectionsMax = 64;
  static constexpr Duration kAskWithin{2000};

  struct Host {
    EventLoop& loop;
    const Clock& clock;
    const Logger& log;
    const SupervisorOrder& order;  // outlives the desk
    std::uint32_t node_index = 0;
    std::string directory;                // the attempt's
    uid_t user = 0;                       // whose sessions may enter
    std::string group;                    // directory of the attempt's control group; empty: none
    int mounts = -1;                      // the attempt's mount namespace; -1: ours
    std::function<std::string()> closed;  // why nobody may enter now; "": he may
    std::function<void()> on_empty;       // after Ended() was false: ask it again
  };

  static absl::StatusOr<std::unique_ptr<SessionDesk>> Open(Host host);
  SessionDesk(const SessionDesk&) = delete;
  SessionDesk& operator=(const SessionDesk&) = delete;
  ~SessionDesk();

  // The job's own processes have ended: lets nobody in any more, ends the sessions, which have
  // `grace` from SIGTERM on, and says whether all are gone.
  bool Ended(Duration grace);
  // Adds what sessions that have ended so have used.
  void AddUsed(Usage* usage) const;

 private:
  struct Connection {
    UniqueFd fd;
    std::uint64_t number = 0;  // tells it from a later one with the same descriptor
  };
  SessionDesk(Host host, std::string path, UniqueFd listener);
  void Accept();
  void Serve(int fd);
  void Drop(int fd);
  SessionAnswer Answer(const SessionQuestion& question);
  // Makes the sessions' group, for the first of them.
  bool MakeGroup();
  void Shut();

  const Host host_;
  const std::string path_;   // of the socket
  const std::string group_;  // of the sessions
  UniqueFd listener_;
  std::map<int, Connection> connections_;
  std::uint64_t accepted_ = 0;
  std::optional<AttemptCgroup> sessions_;
  std::optional<SteadyTime> kill_at_;  // set once they were asked to end
  Duration user_cpu_{};
  Duration system_cpu_{};
  bool looking_ = false;
  OwnTimers timers_;
};

// What a session in the job learns of it by its environment: the job's own variables, and not those
// that describe the batch script's process.
std::vector<std::string> SessionVariables(const SupervisorOrder& order, std::uint32_t node_index);

}  // namespace muster::agent
