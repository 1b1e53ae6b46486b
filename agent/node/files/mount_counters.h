#pragma once

// What the clients of NFS and Lustre count of each of their mounts on this node.
//
// NFS: what went to and from the server, by /proc/self/mountstats. Lustre: what calls read and
// wrote, by the client's llite statistics, which are below /sys/kernel/debug since Lustre 2.12 and
// then root's alone. Thread promise: the owner's thread. Invariants: a mount that does not count,
// or of which it is not clear where it is, is not there; a counter that went down began again.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/model/value/file_system_use.h"
#include "scheduler/model/value/units.h"

namespace muster::agent {

inline constexpr const char* kKernelDebug = "/sys/kernel/debug";

struct MountCounters {
  Bytes read;
  Bytes written;
};

// By mount point.
std::map<std::string, MountCounters> ReadMountCounters(const std::string& proc = "/proc",
                                                       const std::string& debug = kKernelDebug);

class MountMeter {
 public:
  explicit MountMeter(std::string proc = "/proc", std::string debug = kKernelDebug)
      : proc_(std::move(proc)), debug_(std::move(debug)) {}

  // What each mount that was there at the last look did since, if that is nothing, too.
  std::vector<FileSystemUse> Look();

 private:
  const std::string proc_;
  const std::string debug_;
  std::map<std::string, MountCounters> before_;
};

}  // namespace muster::agent
