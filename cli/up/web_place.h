#pragma once

// Where `muster up --web` and its gateway keep what `muster web` needs, in the state directory.
//
// Invariant: all of it lies in one private directory.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

struct WebPlace {
  explicit WebPlace(const std::string& state);
  // The file in which `muster web` leaves the token of a link with that code.
  [[nodiscard]] std::string LinkOf(const std::string& code) const;

  std::string directory;
  std::string links;    // a directory
  std::string address;  // a file: "http://127.0.0.1:7118/"
  std::string socket;   // the controller's, on which nothing but tokens counts: "unix:PATH"
};

// A socket that listens on "HOST:PORT" of this machine alone, held here so that nobody else gets
// the port while the gateway is away. An error is one line with the mend.
absl::StatusOr<UniqueFd> ListenForWeb(const std::string& address);
// "http://127.0.0.1:7118/".
std::string WebUrl(const UniqueFd& socket);

}  // namespace muster::cli
