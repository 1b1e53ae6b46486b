#pragma once

// Of which file systems the bytes are that processes read from storage and wrote to it, between two
// looks.
//
// The kernel counts bytes by process and not by file. So what a process read since the last look
// is of the file system on which the files are that it has open for reading, where that is one; the
// same for writing. What is not clear is of none: of a process that has files of several open, or
// none (a file mapped and closed); of one that waited for a child meanwhile, whose bytes are its
// parent's then; of one that ended; of one that has more files open than kFilesMost, or more
// mounts than kMountBytesMost list. A name is the path of the mount as the process sees it.
// Nothing here asks a file system, which may hang. Thread promise: the owner's thread. Invariants:
// no more bytes than the processes have are given to file systems; a look takes little longer than
// its `limit`, and what it left out waits for the next.

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/node/files/mount_table.h"
#include "scheduler/model/value/file_system_use.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::agent {

// What a process has read and written so far, and the page faults of children that it waited for,
// which grow with each.
struct ProcessIo {
  pid_t pid = 0;
  std::int64_t children_faults = 0;
  Bytes read = {};
  Bytes written = {};
};
using TreesIo = std::map<pid_t, std::vector<ProcessIo>>;  // by the root's pid

class FileSystemMeter {
 public:
  // Less than this is not worth a look at open files.
  static constexpr Bytes kLeast{64 << 10};

  static constexpr int kFilesMost = 1024;  // of one process
  static constexpr std::size_t kMountBytesMost = std::size_t{512} << 10;
  static constexpr std::size_t kSpacesMost = 64;  // mount namespaces, of one look

  explicit FileSystemMeter(std::string proc = "/proc", Duration limit = Duration(50))
      : proc_(std::move(proc)), limit_(limit) {}

  // What each tree did since the last look; of a process that is new, since it began. At the first
  // look after it was made, nothing: an earlier meter may have counted that.
  std::map<pid_t, std::vector<FileSystemUse>> Look(const TreesIo& trees);

 private:
  // Where the files are that a process has open; "": on several file systems, or on none.
  struct OpenOn {
    std::string reading;
    std::string writing;
  };
  using Tables = std::map<std::string, MountTable>;  // by mount namespace

  using Uses = std::map<pid_t, std::vector<FileSystemUse>>;
  using Instant = std::chrono::steady_clock::time_point;

  void LookAt(pid_t tree, const std::vector<ProcessIo>& processes, Instant deadline, Tables& tables,
              Uses& uses);
  void LookAt(const ProcessIo& process, Tables& tables, std::vector<FileSystemUse>& uses);
  [[nodiscard]] OpenOn FilesOf(pid_t pid, Tables& tables) const;
  const MountTable& TableOf(pid_t pid, Tables& tables) const;

  const std::string proc_;
  const Duration limit_;
  bool first_ = true;
  std::map<pid_t, pid_t> next_;  // by tree: the process before which the last look stopped
  std::unordered_map<pid_t, ProcessIo> now_;
  std::unordered_map<pid_t, ProcessIo> before_;
};

}  // namespace muster::agent
