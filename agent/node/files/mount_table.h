#pragma once

// What is mounted where, as /proc/PID/mountinfo has it (proc(5)).
//
// Invariant: a line that cannot be read is no mount.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

struct Mount {
  std::string point;        // "/data"
  std::string type;         // "nfs4"
  std::string source = {};  // "server:/data"
};

class MountTable {
 public:
  explicit MountTable(std::string_view mountinfo);

  // That on which a path is, by its name alone: no file system is asked. Null: none.
  [[nodiscard]] const Mount* Find(std::string_view path) const;
  [[nodiscard]] const std::vector<Mount>& mounts() const { return mounts_; }
  [[nodiscard]] std::size_t size() const { return mounts_.size(); }

 private:
  std::vector<Mount> mounts_;  // in the order in which they were made
};

// Whether a file system of that type keeps files outside of memory.
bool IsStorage(std::string_view type);

}  // namespace muster::agent
