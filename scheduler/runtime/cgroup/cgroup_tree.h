#pragma once

// A directory of the cgroup v2 tree with all below it: whether anything lives there, killing it,
// removing it, one line read or written.
//
// Invariant: nothing outside `directory` is touched; no symbolic link is followed.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace muster {

// Set for supervisors: the group that they are to be in, which is not the agent's.
inline constexpr const char* kSupervisorsGroup = "MUSTER_SUPERVISORS_CGROUP";

// The content of a file of the group without its last newline; "" when it cannot be read.
std::string ReadCgroupFile(const std::string& directory, const std::string& file);

// For how long at least one of its threads has waited for storage, by io.pressure (the kernel's
// Documentation/accounting/psi.rst); nothing where the kernel does not count.
std::optional<std::chrono::microseconds> CgroupIoWait(const std::string& directory);

// What it read from block devices and wrote to them, in bytes, by io.stat; nothing where that names
// no device, as of a group that used none or has no io controller.
struct CgroupIo {
  std::uint64_t read = 0;
  std::uint64_t written = 0;
};
std::optional<CgroupIo> CgroupDeviceIo(const std::string& directory);

// Writes one value; an error names the file and what the kernel said.
absl::Status WriteCgroupFile(const std::string& directory, const std::string& file,
                             const std::string& value);

// Has the children of a group hold all of memory, cpuset, pids and io that the group can; the error
// is the first controller's that the kernel refused, and the rest is left as it is. Memory is tried
// first: of a group with processes in it the kernel refuses that, and nothing else that would spoil
// it.
absl::Status EnableControllers(const std::string& directory);

// Whether that is so already.
bool PassesAllOn(const std::string& directory);

// Whether a process lives in it or below; false when it is not there.
bool CgroupPopulated(const std::string& directory);

// SIGKILL to everything in it and below, at once; false where the kernel cannot.
bool KillCgroup(const std::string& directory);

// Removes it and what is below, as far as nothing lives in it.
void RemoveCgroup(const std::string& directory);

}  // namespace muster
