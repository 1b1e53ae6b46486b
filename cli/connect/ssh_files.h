#pragma once

// The files with which ssh finds its way into jobs: the caller's key, the servers' keys, and lines
// for ~/.ssh/config.
//
// They lie in "connect" under the default state directory, which is the user's alone (0700); a key
// is made once and never shown. Invariants: the text functions are pure; the file of known servers
// holds each key once, and no more than kKnownMax.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

inline constexpr std::size_t kKnownMax = 100;

struct SshFiles {
  std::string directory;
  [[nodiscard]] std::string identity() const { return directory + "/id_ed25519"; }
  [[nodiscard]] std::string known_servers() const { return directory + "/known_hosts"; }
};

// Of this user; its directory is there then.
absl::StatusOr<SshFiles> FindSshFiles(const Environment& environment);

// The public key of the caller; makes the pair where there is none yet.
absl::StatusOr<std::string> CallersKey(const SshFiles& files, const Environment& environment);

// From now on ssh knows a server of any job by that key: "ssh-ed25519 AAAA…".
absl::Status KnowServer(const SshFiles& files, const std::string& key);

// The file of known servers `text` with that key as the last. InvalidArgument: no such key.
absl::StatusOr<std::string> WithServer(const std::string& text, const std::string& key);

// The name of a job as ssh has it: "muster-12_3" is 12_3.
std::string JobOfHost(const std::string& host);

// Lines for ~/.ssh/config; `command` is what connects, before the name of the host.
std::string SshConfig(const SshFiles& files, const std::vector<std::string>& command);

}  // namespace muster::cli
