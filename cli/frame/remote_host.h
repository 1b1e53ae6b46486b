#pragma once

// `muster --host HOST VERB …`: the verb runs on that machine, by ssh, as the user whom ssh makes us
// there.
//
// Thread promise: the main thread's. Invariants: the words arrive as they were given; a script is
// read here and goes along; the exit code is the verb's, or ssh's own 255.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

struct RemoteCommand {
  std::vector<std::string> argv;  // of ssh
  std::string script;             // a file that is to be its standard input; empty: ours
};

// `ssh`: the program and its options. `words`: the verb and what follows it. `script`: which of
// them is a file that goes along; their number when none is. `terminal`: the verb is to have one
// there. InvalidArgument on a host that is none.
absl::StatusOr<RemoteCommand> OnHost(const std::vector<std::string>& ssh, const std::string& host,
                                     const std::vector<std::string>& words, std::size_t script,
                                     bool terminal);

// Becomes ssh, which is $MUSTER_SSH or "ssh"; returns only with an error.
absl::Status BecomeRemote(const Environment& environment, const std::string& host,
                          const std::vector<std::string>& words, std::size_t script);

}  // namespace muster::cli
