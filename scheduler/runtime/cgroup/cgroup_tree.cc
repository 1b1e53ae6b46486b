#include "scheduler/runtime/cgroup/cgroup_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

// A job may make groups of its own in its group; nobody nests them deeper than this.
constexpr int kDepthMax = 64;

// Removes what is below the directory `at`/`name`, then that.
void RemoveBelow(int at, const char* name, int depth) {
  const int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(fdopendir(fd), closedir);
  if (directory == nullptr) {
    close(fd);
    return;
  }
  while (const dirent* entry = readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string child = entry->d_name;
    if (entry->d_type == DT_DIR && child != "." && child != ".." && depth < kDepthMax) {
      RemoveBelow(fd, child.c_str(), depth + 1);
    }
  }
  unlinkat(at, name, AT_REMOVEDIR);
}

// Of "total=12" the number after "total=".
std::optional<std::uint64_t> NumberAfter(const std::string& name, const std::string& word) {
  std::uint64_t number = 0;
  return absl::StartsWith(word, name) && absl::SimpleAtoi(word.substr(name.size()), &number)
             ? std::optional(number)
             : std::nullopt;
}

// What the group could pass on and does not, in the order in which it is tried.
std::vector<std::string> NotPassedOn(const std::string& directory) {
  const std::vector<std::string> here = SplitWords(ReadCgroupFile(directory, "cgroup.controllers"));
  const std::vector<std::string> on =
      SplitWords(ReadCgroupFile(directory, "cgroup.subtree_control"));
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> missing;
  for (const std::string controller : {"memory", "cpuset", "pids", "io", "hugetlb"}) {
    // By itself, where the others belong to cgroup v1, it would only keep processes out of groups.
    const bool alone = controller == "hugetlb" && !has(here, "memory");
    if (has(here, controller) && !has(on, controller) && !alone) {
      missing.push_back(controller);
    }
  }
  return missing;
}

}  // namespace

std::string ReadCgroupFile(const std::string& directory, const std::string& file) {
  std::string text = ReadFile(absl::StrCat(directory, "/", file)).value_or("");
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

std::optional<std::chrono::microseconds> CgroupIoWait(const std::string& directory) {
  // "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", and a line of what stopped all of them.
  const std::string text = ReadCgroupFile(directory, "io.pressure");
  for (const std::string& word : SplitWords(text.substr(0, text.find('\n')))) {
    if (const std::optional<std::uint64_t> total = NumberAfter("total=", word)) {
      return std::chrono::microseconds(*total);
    }
  }
  return std::nullopt;
}

std::optional<CgroupIo> CgroupDeviceIo(const std::string& directory) {
  std::optional<CgroupIo> sum;
  // "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6", a line for each device.
  for (const std::string& word : SplitWords(ReadCgroupFile(directory, "io.stat"))) {
    const std::optional<std::uint64_t> read = NumberAfter("rbytes=", word);
    const std::optional<std::uint64_t> written = NumberAfter("wbytes=", word);
    if (read.has_value() || written.has_value()) {
      sum = sum.value_or(CgroupIo());
      sum->read += read.value_or(0);
      sum->written += written.value_or(0);
    }
  }
  return sum;
}

absl::Status WriteCgroupFile(const std::string& directory, const std::string& file,
                             const std::string& value) {
  const std::string path = absl::StrCat(directory, "/", file);
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, path);
  }
  // One write: the kernel takes a value whole or not at all.
  if (write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": \"", value, "\" refused"));
  }
  return absl::OkStatus();
}

absl::Status EnableControllers(const std::string& directory) {
  for (const std::string& controller : NotPassedOn(directory)) {
    RETURN_IF_ERROR(
        WriteCgroupFile(directory, "cgroup.subtree_control", absl::StrCat("+", controller)));
  }
  return absl::OkStatus();
}

bool PassesAllOn(const std::string& directory) {
  return NotPassedOn(directory).empty();
}

bool CgroupPopulated(const std::string& directory) {
  return absl::StrContains(ReadCgroupFile(directory, "cgroup.events"), "populated 1");
}

bool KillCgroup(const std::string& directory) {
  return WriteCgroupFile(directory, "cgroup.kill", "1").ok();
}

void RemoveCgroup(const std::string& directory) {
  if (!directory.empty() && rmdir(directory.c_str()) != 0 && errno != ENOENT) {
    RemoveBelow(AT_FDCWD, directory.c_str(), 0);
  }
}

}  // namespace muster
