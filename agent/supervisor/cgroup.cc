#include "agent/supervisor/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"

namespace muster {

std::optional<AttemptCgroup> AttemptCgroup::Make(const std::string& directory) {
  if (directory.empty() || (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST)) {
    return std::nullopt;
  }
  UniqueFd procs(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!procs.valid()) {
    rmdir(directory.c_str());
    return std::nullopt;
  }
  return AttemptCgroup(directory, std::move(procs));
}

bool AttemptCgroup::Freeze(bool freeze) const {
  const UniqueFd file(open((directory_ + "/cgroup.freeze").c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() && write(file.get(), freeze ? "1" : "0", 1) == 1;
}

bool AttemptCgroup::Frozen() const {
  const absl::StatusOr<std::string> text = ReadFile(directory_ + "/cgroup.events");
  return text.ok() && absl::StrContains(*text, "frozen 1");
}

void AttemptCgroup::Kill() const {
  const UniqueFd kill(open((directory_ + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
  if (kill.valid() && write(kill.get(), "1", 1) != 1) {
    return;  // an old kernel: the caller signals the tree too
  }
}

bool AttemptCgroup::OutOfMemory() const {
  const absl::StatusOr<std::string> text = ReadFile(directory_ + "/memory.events");
  if (!text.ok()) {
    return false;
  }
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(*text, '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    int count = 0;
    if (words.size() == 2 && words[0] == "oom_kill" && absl::SimpleAtoi(words[1], &count)) {
      return count > 0;
    }
  }
  return false;
}

void AttemptCgroup::Remove() const {
  rmdir(directory_.c_str());
}

}  // namespace muster
