#include "agent/supervisor/limits/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/limits/device_filter.h"
#include "agent/supervisor/limits/device_rules.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"

namespace muster::agent {
namespace {

// The number behind `key` in a file of lines "key number"; 0 when there is none.
std::uint64_t EventCount(const std::string& events, const std::string& key) {
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(events, '\n'))) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    std::uint64_t count = 0;
    if (words.size() == 2 && words[0] == key && absl::SimpleAtoi(words[1], &count)) {
      return count;
    }
  }
  return 0;
}

std::optional<Bytes> BytesOf(const std::string& text) {
  std::uint64_t bytes = 0;
  return absl::SimpleAtoi(text, &bytes) ? std::optional<Bytes>(Bytes(bytes)) : std::nullopt;
}

// "devices GPU 0,2", by their positions in the machine; "devices no GPU".
std::string DevicesText(const NodeAllocation& part) {
  std::vector<std::uint32_t> gpus;
  for (const GpuGrant& grant : part.gpus) {
    gpus.push_back(grant.gpu);
  }
  std::sort(gpus.begin(), gpus.end());
  return gpus.empty() ? "devices no GPU" : absl::StrCat("devices GPU ", absl::StrJoin(gpus, ","));
}

}  // namespace

std::optional<AttemptCgroup> AttemptCgroup::Make(const std::string& directory) {
  if (directory.empty() || (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST)) {
    return std::nullopt;
  }
  UniqueFd opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  UniqueFd procs(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!opened.valid() || !procs.valid()) {
    rmdir(directory.c_str());
    return std::nullopt;
  }
  return AttemptCgroup(directory, std::move(opened), std::move(procs));
}

std::optional<AttemptCgroup> AttemptCgroup::MakeStep(const std::string& name,
                                                     const GroupLimits& limits,
                                                     const LimitSet& promised) const {
  std::optional<AttemptCgroup> step = Make(absl::StrCat(directory_, "/", name));
  if (step.has_value()) {
    HoldTo(step->directory_, limits, promised);  // the attempt's own hold in any case
  }
  return step;
}

LimitSet AttemptCgroup::Hold(const SupervisorOrder& order, const NodeAllocation& part) const {
  const NodeLimits& node = order.limits;
  LimitSet held = HoldTo(directory_, AttemptLimits(node, part), node);
  if (node.Holds("devices")) {
    const absl::Status attached =
        AttachDeviceFilter(opened_.get(), DeviceProgram(DeviceRules(node.devices, part.gpus)));
    if (attached.ok()) {
      held.held.push_back(DevicesText(part));
    } else {
      held.missing.push_back({"devices", std::string(attached.message())});
    }
  }
  EnableControllers(directory_).IgnoreError();  // steps then share what holds the attempt
  return held;
}

bool AttemptCgroup::Freeze(bool freeze) const {
  return WriteCgroupFile(directory_, "cgroup.freeze", freeze ? "1" : "0").ok();
}

bool AttemptCgroup::Frozen() const {
  return absl::StrContains(ReadCgroupFile(directory_, "cgroup.events"), "frozen 1");
}

bool AttemptCgroup::Populated() const {
  return CgroupPopulated(directory_);
}

bool AttemptCgroup::Kill() const {
  return KillCgroup(directory_);
}

std::optional<std::string> AttemptCgroup::OutOfMemory() const {
  const std::string events = ReadCgroupFile(directory_, "memory.events");
  if (events.empty()) {
    return std::nullopt;
  }
  return OutOfMemoryText(events, ReadCgroupFile(directory_, "memory.events.local"),
                         ReadCgroupFile(directory_, "memory.max"),
                         ReadCgroupFile(directory_, "memory.peak"));
}

std::optional<std::string> AttemptCgroup::OutOfOwnMemory() const {
  return EventCount(ReadCgroupFile(directory_, "memory.events.local"), "oom") > 0 ? OutOfMemory()
                                                                                  : std::nullopt;
}

Bytes AttemptCgroup::PeakMemory() const {
  return BytesOf(ReadCgroupFile(directory_, "memory.peak")).value_or(Bytes());
}

std::optional<Duration> AttemptCgroup::IoWait() const {
  const std::optional<std::chrono::microseconds> wait = CgroupIoWait(directory_);
  return wait.has_value() ? std::optional(std::chrono::duration_cast<Duration>(*wait))
                          : std::nullopt;
}

void AttemptCgroup::Remove() const {
  RemoveCgroup(directory_);
}

std::optional<std::string> OutOfMemoryText(const std::string& events, const std::string& local,
                                           const std::string& max, const std::string& peak) {
  if (EventCount(events, "oom_kill") == 0) {
    return std::nullopt;
  }
  const std::optional<Bytes> limit = BytesOf(max);
  const std::optional<Bytes> most = BytesOf(peak);
  const std::string used =
      most.has_value() ? absl::StrCat("; at its peak it had ", BytesText(most->value())) : "";
  // The killer counts "oom" in the group whose limit was reached, and none when the node ran out.
  if (EventCount(local.empty() ? events : local, "oom") > 0 && limit.has_value()) {
    return absl::StrCat("out of memory: it reached its limit of ", BytesText(limit->value()), used);
  }
  if (EventCount(events, "oom") > 0) {
    return absl::StrCat("out of memory: a step reached its own limit", used);
  }
  return absl::StrCat("out of memory: the node had none left", used,
                      limit.has_value() ? absl::StrCat(" of its ", BytesText(limit->value())) : "");
}

}  // namespace muster::agent
