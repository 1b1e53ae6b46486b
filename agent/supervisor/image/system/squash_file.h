#pragma once

// What a squashfs file's first bytes say of whose its files are (version 4.0 of the format, as
// every Linux since 2.6.29 mounts it).
//
// Thread promise: the caller's thread. Invariant: whatever the bytes are, reading them is safe.

#include <string>

namespace muster::agent {

// All of its files belong to root, user and group: as `mksquashfs -all-root`, enroot and
// --container-save make it. False also of what cannot be read, or is no such file.
bool IsAllOfRoot(const std::string& path);

}  // namespace muster::agent
