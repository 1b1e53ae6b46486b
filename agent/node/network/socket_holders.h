#pragma once

// Which trees of processes hold which sockets, by /proc/PID/fd, and which of them live in another
// network namespace than this process, where their sockets cannot be listed.
//
// Nothing that it reads waits for a process. Users decide how many processes and descriptors there
// are, so that a search within bounds may leave some out, and says of which trees. Invariants: a
// process that ends meanwhile holds none; a search takes little longer than it may.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "scheduler/model/value/time.h"

namespace muster::agent {

using ProcessTrees = std::map<pid_t, std::vector<pid_t>>;  // by the root's pid

// Of sockets, by the inode that /proc/PID/fd names; a socket that two trees hold is one's.
// Without bounds: for a process that may be stopped.
std::unordered_map<std::uint64_t, pid_t> HoldersOf(const std::unordered_set<std::uint64_t>& sockets,
                                                   const ProcessTrees& trees,
                                                   const std::string& proc = "/proc");

struct SearchBounds {
  int descriptors = 1024;  // of one process
  Duration time{50};       // for all trees; small ones come first, and leave the others their rest
};

struct SearchResult {
  std::unordered_map<std::uint64_t, pid_t> holders;
  std::set<pid_t> whole;  // trees of which all descriptors were read
  std::set<pid_t> cut;    // trees of which some may hold sockets and were not read
};

// The same within bounds; a search goes on where the last one of that tree stopped.
class HolderSearch {
 public:
  explicit HolderSearch(std::string proc = "/proc", SearchBounds bounds = {})
      : proc_(std::move(proc)), bounds_(bounds) {}

  SearchResult Search(const std::unordered_set<std::uint64_t>& sockets, const ProcessTrees& trees);

 private:
  const std::string proc_;
  const SearchBounds bounds_;
  std::map<pid_t, pid_t> next_;  // by tree: the process at which the last search stopped
};

// The trees of which a process is in another network namespace, or hides it, or was not looked at
// within `limit`.
std::set<pid_t> TreesElsewhere(const ProcessTrees& trees, const std::string& proc = "/proc",
                               Duration limit = Duration::max());

}  // namespace muster::agent
