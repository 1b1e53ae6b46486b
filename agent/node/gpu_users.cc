#include "agent/node/gpu_users.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <unordered_map>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/node/process_table.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"

namespace muster::agent {
namespace {

constexpr const char* kMpsPrograms = "nvidia-cuda-mps";

std::string NameOfUser(uid_t uid) {
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  return getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr
             ? found->pw_name
             : absl::StrCat(uid);
}

// As any program may call itself anything.
std::string Plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

// The directory of the process' group; "" where it has none.
std::string GroupOf(const std::string& proc, std::uint32_t pid) {
  std::array<char, 1024> buffer{};
  const std::string group = OwnCgroup(ReadStart(absl::StrCat(proc, "/", pid, "/cgroup"), buffer));
  const absl::StatusOr<std::string> mount =
      group.empty() ? absl::StatusOr<std::string>("") : MountedCgroups();
  return mount.ok() && !group.empty() ? *mount + group : "";
}

bool IsWithin(const std::string& group, const std::string& directory) {
  return !directory.empty() && absl::StartsWith(group, directory) &&
         (group.size() == directory.size() || group[directory.size()] == '/');
}

// Says of processes whether they belong to jobs.
class Owners {
 public:
  Owners(const std::map<AttemptKey, RunningAttempt>& running, const std::string& proc)
      : running_(running), proc_(proc), table_(ReadProcessTable(proc)) {
    for (const auto& [key, attempt] : running) {
      roots_.insert(attempt.supervisor);
    }
    roots_.erase(0);
    roots_.insert(getpid());
  }

  bool Own(std::uint32_t pid) {
    const auto own = static_cast<pid_t>(pid);
    if (roots_.count(own) != 0 || RootOf(own, roots_, table_, known_) != 0) {
      return true;
    }
    const std::string group = GroupOf(proc_, pid);
    return std::any_of(running_.begin(), running_.end(), [&group](const auto& attempt) {
      return IsWithin(group, attempt.second.cgroup);
    });
  }

 private:
  const std::map<AttemptKey, RunningAttempt>& running_;
  const std::string& proc_;
  const ProcessTable table_;
  std::set<pid_t> roots_;
  std::unordered_map<pid_t, pid_t> known_;
};

}  // namespace

void GpuUsers::Look(const std::map<AttemptKey, RunningAttempt>& running, SteadyTime now) {
  if (meter_ == nullptr) {
    return;
  }
  const bool again = first_ != SteadyTime::min();
  first_ = again ? first_ : now;
  const std::map<Key, Bytes> foreign = Foreign(running);
  std::erase_if(seen_, [&foreign](const auto& seen) { return !foreign.contains(seen.first); });
  GpuOccupants occupants;
  for (const auto& [key, memory] : foreign) {
    auto seen = seen_.find(key);
    if (seen == seen_.end()) {
      std::optional<GpuOccupant> occupant = Describe(key, memory);
      if (occupant.has_value()) {
        seen_.emplace(key, Seen{now, *std::move(occupant)});
      }
    } else if (now - seen->second.since >= kLeast && occupants.size() < kGpuOccupantsMax) {
      occupants.push_back(seen->second.occupant);
    }
  }
  // After a start nothing is said before it can be known who is there to stay.
  if (again && now - first_ >= kLeast) {
    occupants_ = std::move(occupants);
  }
}

std::map<GpuUsers::Key, Bytes> GpuUsers::Foreign(
    const std::map<AttemptKey, RunningAttempt>& running) const {
  std::map<Key, Bytes> foreign;
  std::optional<Owners> owners;
  for (const topology::GpuProcess& process : meter_->Processes()) {
    const auto gpu = std::find_if(machine_.gpus.begin(), machine_.gpus.end(),
                                  [&](const Gpu& one) { return one.uuid == process.uuid; });
    if (gpu == machine_.gpus.end() || process.pid == 0 ||
        (process.draws && process.memory < kDesktop)) {
      continue;
    }
    if (!owners.has_value()) {
      owners.emplace(running, proc_);
    }
    if (!owners->Own(process.pid)) {
      const auto at = static_cast<std::uint32_t>(std::distance(machine_.gpus.begin(), gpu));
      foreign.emplace(Key(at, process.pid), process.memory);
    }
  }
  return foreign;
}

std::optional<GpuOccupant> GpuUsers::Describe(const Key& key, Bytes memory) const {
  const std::string directory = absl::StrCat(proc_, "/", key.second);
  std::array<char, 1024> buffer{};
  std::string program(ReadStart(directory + "/comm", buffer));
  program.erase(std::find(program.begin(), program.end(), '\n'), program.end());
  struct stat status {};
  if (program.empty() || absl::StartsWith(program, kMpsPrograms) ||
      stat(directory.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return GpuOccupant{key.first, key.second, Plain(NameOfUser(status.st_uid)), Plain(program),
                     memory};
}

}  // namespace muster::agent
