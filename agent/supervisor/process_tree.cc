#include "agent/supervisor/process_tree.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {
namespace {

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

pid_t ParentOf(pid_t pid) {
  return StatOf(pid).parent_pid;
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

// True when the chain of parents of `pid` leads to `root`.
bool Descends(pid_t pid, pid_t root) {
  for (pid_t parent = ParentOf(pid); parent > 1; parent = ParentOf(parent)) {
    if (parent == root) {
      return true;
    }
  }
  return root == 1;
}

}  // namespace

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

int SignalDescendants(int signal) {
  const pid_t self = getpid();
  const std::vector<pid_t> pids = Descendants(self);
  for (const pid_t pid : pids) {
    const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    // Checked after opening: the descriptor pins the process it names.
    if (pidfd.valid() && Descends(pid, self)) {
      syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
      syscall(SYS_pidfd_send_signal, pidfd.get(), SIGCONT, nullptr, 0);
    }
  }
  return static_cast<int>(pids.size());
}

int StopDescendants() {
  constexpr std::string_view kStopped = "TtZXxD";
  const pid_t self = getpid();
  int running = 0;
  for (const pid_t pid : Descendants(self)) {
    const UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!pidfd.valid() || !Descends(pid, self)) {
      continue;
    }
    running += kStopped.find(StatOf(pid).state) == std::string_view::npos ? 1 : 0;
    syscall(SYS_pidfd_send_signal, pidfd.get(), SIGSTOP, nullptr, 0);
  }
  return running;
}

}  // namespace muster
