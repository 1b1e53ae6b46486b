#pragma once

// Asks the supervisors of a user's jobs on this node whether a session may enter, and of one of
// them the way in.
//
// All are asked at once: one that hangs costs the login its deadline and never another job's
// answer. Only a listener of root's, or of our own user's, is believed, and it refuses who is not
// root. Thread promise: none; blocks up to the deadline. Invariants: (1) at most kDoorsMax are
// asked, those of the newest jobs; (2) no file or socket is left open but what WayIn holds.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent/supervisor/sessions/session_packet.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

inline constexpr std::size_t kDoorsMax = 64;

using LoginTime = std::chrono::steady_clock::time_point;

struct JobDoor {
  std::string attempt;  // its directory's name, "3.1"
  SessionAnswer answer;
};

struct JobDoors {
  std::vector<JobDoor> open;    // that would let him in, the newest attempt first
  std::vector<JobDoor> closed;  // the same of those that refused
  std::size_t silent = 0;       // that did not answer in time, or not so that it can be read
  std::string failure;          // why nobody could be asked; empty: all were
};
JobDoors FindJobDoors(const std::string& state, uid_t uid, LoginTime deadline);

struct WayIn {
  SessionAnswer answer;
  UniqueFd procs;   // to write "0" to
  UniqueFd mounts;  // to enter; invalid: there is none
  std::string failure;
};
WayIn AskWayIn(const std::string& state, const std::string& attempt, uid_t uid, LoginTime deadline);

// What is said to who is not let in, one line; `node`: this host's name.
std::string RefusalText(const JobDoors& doors, std::string_view node);

}  // namespace muster::agent
