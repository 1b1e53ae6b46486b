#pragma once

// Which trees of processes hold which sockets, by /proc/PID/fd, and which of them live in another
// network namespace than this process, where their sockets cannot be listed.
//
// Nothing that it reads waits for a process. Invariant: a process that ends meanwhile holds none.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace muster::agent {

using ProcessTrees = std::map<pid_t, std::vector<pid_t>>;  // by the root's pid

// Of sockets, by the inode that /proc/PID/fd names; a socket that two trees hold is the first's.
std::unordered_map<std::uint64_t, pid_t> HoldersOf(const std::unordered_set<std::uint64_t>& sockets,
                                                   const ProcessTrees& trees,
                                                   const std::string& proc = "/proc");

// The trees of which a process is in another network namespace, or hides it.
std::set<pid_t> TreesElsewhere(const ProcessTrees& trees, const std::string& proc = "/proc");

}  // namespace muster::agent
