#pragma once

// Namespaces of this process's own in which a user may mount file systems: of users, where they are
// root and nobody else is there, of mounts, and of control groups.
//
// Outside they have what their user has and nothing more. Thread promise: for a process with one
// thread. Invariant: no mount made here is seen outside.

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace muster::agent {

// Enters them for good.
absl::Status EnterOwnNamespaces();

// Mounts the file system of control groups that OCI runtimes expect where the machine still has
// those of version 1. REQUIRES: EnterOwnNamespaces().
absl::Status ShowControlGroups();

// A file system whose lowest layer is `lower`; what changes is in `upper`, beside which `work` is
// needed. REQUIRES: EnterOwnNamespaces().
absl::Status MountLayers(const std::string& lower, const std::string& upper,
                         const std::string& work, const std::string& at);
// What `layers`, the highest first, make together; to be read only.
absl::Status MountToRead(const std::vector<std::string>& layers, const std::string& at);
// `lower` itself, that cannot be changed there.
absl::Status MountAlone(const std::string& lower, const std::string& at);

}  // namespace muster::agent
