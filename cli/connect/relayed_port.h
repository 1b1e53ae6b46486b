#pragma once

// A port of this machine's loopback that leads into a running job, while the object lives.
//
// A process of ours carries the connections, and starts this program there as the relay. Thread
// promise: one owner. Invariant: nothing is told to listen before the relay has said that a program
// listens at the other end.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/connect/port_words.h"
#include "cli/frame/verb.h"

namespace muster::cli {

// Serves until `stop` can be read (0) or the relay ends (its exit code, which said why). `ready`
// hears the port of this machine. --node and --rank of the invocation choose where in the job.
absl::StatusOr<int> ServePort(const Invocation& invocation, const std::string& job,
                              const ForwardedPort& port, int stop,
                              const std::function<void(std::uint16_t)>& ready);

// The job's end of it, on standard input and output.
absl::StatusOr<int> RelayPort(const ForwardedPort& port);

}  // namespace muster::cli
