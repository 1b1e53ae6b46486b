#include "agent/supervisor/limits/process_tree.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// The states of /proc/PID/stat in which a process runs no line of its own.
constexpr std::string_view kStopped = "TtZXxD";

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

// The numbers among the entries of a /proc directory.
std::vector<pid_t> NumericEntries(const std::string& path) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(path.c_str()));
  if (directory == nullptr) {
    return numbers;
  }
  // readdir is safe on a stream that only this function knows.
  while (const dirent* entry = readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    pid_t number = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto [stop, error] = std::from_chars(entry->d_name, end, number);
    if (error == std::errc() && stop == end) {
      numbers.push_back(number);
    }
  }
  return numbers;
}

ProcessStat StatOf(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat("/proc/", pid, "/stat"));
  if (!text.ok()) {
    return ProcessStat();
  }
  const absl::StatusOr<ProcessStat> stat = ParseProcessStat(*text);
  return stat.ok() ? *stat : ProcessStat();
}

// The children of `pid` by its threads' lists; false on a kernel without them.
bool ListChildren(pid_t pid, std::vector<pid_t>* children) {
  const std::string tasks = absl::StrCat("/proc/", pid, "/task");
  bool listed = false;
  for (const pid_t thread : NumericEntries(tasks)) {
    const absl::StatusOr<std::string> text =
        ReadFile(absl::StrCat(tasks, "/", thread, "/children"));
    if (!text.ok()) {
      continue;
    }
    listed = true;
    const char* at = text->data();
    const char* end = at + text->size();
    while (at < end) {
      pid_t child = 0;
      const auto [stop, error] = std::from_chars(at, end, child);
      if (error == std::errc()) {
        children->push_back(child);
      }
      at = stop + 1;
    }
  }
  return listed;
}

std::vector<pid_t> DescendantsByScan(pid_t root) {
  std::multimap<pid_t, pid_t> children_of;
  for (const pid_t pid : NumericEntries("/proc")) {
    children_of.emplace(ParentOf(pid), pid);
  }
  std::vector<pid_t> found;
  std::vector<pid_t> parents = {root};
  while (!parents.empty()) {
    const pid_t parent = parents.back();
    parents.pop_back();
    const auto [first, last] = children_of.equal_range(parent);
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second);
    }
  }
  return found;
}

// Opens the processes of `pids`, parents before children, and has `act` see those that still
// descend from us by now: an open descriptor pins the process it names, and whose parent was found
// to be ours is ours. (One look at each: a chain of thousands would cost the square of that.)
void ForEachOfOurs(const std::vector<pid_t>& pids, const std::function<void(pid_t, int)>& act) {
  std::unordered_set<pid_t> ours = {getpid()};
  for (const pid_t pid : pids) {
    const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (pidfd.valid() && ours.count(ParentOf(pid)) != 0) {
      ours.insert(pid);
      act(pid, pidfd.get());
    }
  }
}

}  // namespace

bool HasChildren() {
  siginfo_t info = {};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

pid_t ParentOf(pid_t pid) {
  return StatOf(pid).parent_pid;
}

std::vector<pid_t> Descendants(pid_t root) {
  std::vector<pid_t> found;
  if (!ListChildren(root, &found)) {
    return DescendantsByScan(root);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    ListChildren(found[i], &found);
  }
  return found;
}

bool DescendsFromUs(pid_t pid) {
  while (pid > 1 && pid != getpid()) {
    pid = ParentOf(pid);
  }
  return pid == getpid();
}

int SignalDescendants(int signal) {
  const std::vector<pid_t> pids = Descendants(getpid());
  ForEachOfOurs(pids, [signal](pid_t, int pidfd) {
    syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0);
    syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0);
  });
  return static_cast<int>(pids.size());
}

int StopDescendants() {
  int running = 0;
  ForEachOfOurs(Descendants(getpid()), [&running](pid_t pid, int pidfd) {
    running += kStopped.find(StatOf(pid).state) == std::string_view::npos ? 1 : 0;
    syscall(SYS_pidfd_send_signal, pidfd, SIGSTOP, nullptr, 0);
  });
  return running;
}

}  // namespace muster::agent
