#pragma once

// The terminal at which a command was given, as a place for a message.
//
// Thread promise: the caller's thread. Invariant: nothing is written to a terminal of another user,
// or to one that lets no messages in (mesg n).

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// That of our standard streams, opened to be written to. FailedPrecondition says why there is none.
absl::StatusOr<UniqueFd> FindTerminal();

// Whether `fd` is a terminal of ours that lets messages in. FailedPrecondition says why not.
absl::Status CheckTerminal(int fd);

// Writes the line below what stands there, with a bell. Never waits: what the terminal does not
// take is lost.
absl::Status WriteNotice(int fd, const std::string& line);

}  // namespace muster::cli
