#include "agent/node/files/mount_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"

namespace muster::agent {
namespace {

// Of a line that says "36 35 98:0 /root /mount/point rw,noatime master:1 - ext3 /dev/root rw".
constexpr std::size_t kPoint = 4;
constexpr std::size_t kWordsLeast = 6;

bool IsBelow(std::string_view path, std::string_view point) {
  return point == "/" || (path.substr(0, point.size()) == point &&
                          (path.size() == point.size() || path[point.size()] == '/'));
}

}  // namespace

MountTable::MountTable(std::string_view mountinfo) {
  for (const auto line :
       absl::StrSplit(absl::string_view(mountinfo.data(), mountinfo.size()), '\n')) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    Mount mount;
    // A blank is \040 there, as in C.
    if (words.size() >= kWordsLeast && dash != words.end() && dash + 1 != words.end() &&
        absl::CUnescape(words[kPoint], &mount.point)) {
      mount.type = std::string(*(dash + 1));
      mount.source = dash + 2 != words.end() ? std::string(*(dash + 2)) : "";
      mounts_.push_back(std::move(mount));
    }
  }
}

const Mount* MountTable::Find(std::string_view path) const {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts_) {
    // A later one at the same place covers the earlier.
    if (IsBelow(path, mount.point) &&
        (best == nullptr || mount.point.size() >= best->point.size())) {
      best = &mount;
    }
  }
  return best;
}

bool IsStorage(std::string_view type) {
  constexpr std::array<std::string_view, 14> kOthers = {
      "autofs",    "bpf",    "cgroup", "cgroup2", "debugfs", "devpts", "devtmpfs",
      "hugetlbfs", "mqueue", "proc",   "ramfs",   "sysfs",   "tmpfs",  "tracefs"};
  return std::find(kOthers.begin(), kOthers.end(), type) == kOthers.end();
}

}  // namespace muster::agent
