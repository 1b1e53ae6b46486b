#pragma once

// Keeps a file of endpoints as the service is.
//
// Thread promise: the main thread's; each call blocks it. Invariants: the file is replaced as a
// whole, and only when its text changes; the command runs after each change of it and never beside
// itself; while no controller answers the file stays.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/connection.h"
#include "cli/service/endpoint_text.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

struct EndpointFile {
  std::string service;
  std::string port;  // a name; "": the first one
  EndpointFormat format = EndpointFormat::kLines;
  std::string path;                      // "": standard output
  std::string reload;                    // a command of /bin/sh; "": none
  std::vector<std::string> environment;  // of the command
};

// The text as the service is now. NotFound: there is no such service.
absl::StatusOr<std::string> EndpointsNow(Connection& connection, const EndpointFile& file);

// Writes the text where the file has another one; whether it had.
absl::StatusOr<bool> ReplaceFile(const std::string& path, const std::string& text);

// Once. The exit code: of the command, where it ran.
absl::StatusOr<int> WriteEndpoints(Connection& connection, const EndpointFile& file);
// Until one of the signals comes. They were blocked before the connection was opened: its threads
// would take them.
absl::StatusOr<int> FollowEndpoints(Connection& connection, const EndpointFile& file,
                                    const UniqueFd& signals);

}  // namespace muster::cli
