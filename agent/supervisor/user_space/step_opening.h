#pragma once

// What a step has of its user's space before its first rank is forked: the connection to the
// `muster run` that watches it, and its files. All of it by names that the user gave, so it is
// opened in one go, as that user (as_user.h).
//
// Thread promise: the functions are called where the user is, once a step.

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/user_space/as_user.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct StepOpening {
  struct File {
    std::string path;
    bool output = false;  // else input
    bool append = false;
  };
  std::string address = {};  // of `muster run`; empty: no client watches
  int private_tmp = -1;      // as ConnectToRun's
  bool refused = false;      // the step will not start: it only says so to `muster run`
  std::string work_dir = {};
  mode_t umask = 022;
  std::vector<File> files = {};
};

// Brings the connection, where there is an address, and then the files in their order. The text
// says why the working directory cannot be entered or a file opened: then no file comes. An error:
// `muster run` cannot be reached.
absl::StatusOr<Brought> OpenStep(const StepOpening& opening);

// A stream to `address`, "unix:PATH" or "HOST:PORT". Waits for name servers, and five seconds for
// each address of a host. `private_tmp`: a descriptor of the directory that the job's processes
// have as /tmp, where one of them may be who waits; -1: the machine's.
absl::StatusOr<UniqueFd> ConnectToRun(const std::string& address, int private_tmp = -1);

}  // namespace muster::agent
