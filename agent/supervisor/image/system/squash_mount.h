#pragma once

// Mounts a squashfs file, of which nothing is unpacked: squashfuse serves its files.
//
// That process is begun before we enter namespaces of our own and stays outside of them, so that
// they go when nobody is in the container any more, the mount with them, and squashfuse with that.
// It takes no signal that asks it to end: ranks that are told to end may still read. Only a file
// that is all root's is mounted, as root is the one user who is in those namespaces. Thread
// promise: for a process with one thread. Invariant: nothing of a file that is mounted gives a
// right or a device.

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class SquashMount {
 public:
  // Begins it, for later. Nothing: this file, or no file here, can be mounted so. REQUIRES: before
  // EnterOwnNamespaces().
  static std::optional<SquashMount> Prepare(const std::string& file);

  // Mounts it at that directory. An error is one line. REQUIRES: after EnterOwnNamespaces().
  [[nodiscard]] absl::Status MountAt(const std::string& directory) const;

 private:
  SquashMount(UniqueFd server, UniqueFd said)
      : server_(std::move(server)), said_(std::move(said)) {}

  UniqueFd server_;  // takes the descriptor that it serves
  UniqueFd said_;    // what it has said, in memory
};

}  // namespace muster::agent
