#include "agent/node/process_usage.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

Duration FromTicks(std::int64_t ticks) {
  static const std::int64_t a_second = sysconf(_SC_CLK_TCK);
  return Duration(ticks * 1000 / a_second);
}

Bytes FromPages(std::int64_t pages) {
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  return Bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(pages, 0) * page));
}

// What /proc/PID/io counts of a process, its threads, and the children that it has waited for.
struct Storage {
  std::optional<Bytes> called;
  std::optional<Bytes> read;
  std::optional<Bytes> written;
  bool refused = false;  // it is there, and we may not look
};

std::optional<Bytes> LineOf(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  std::array<std::int64_t, 1> number{};
  return at != std::string_view::npos && ReadNumbers(text.substr(at + name.size()), number) == 1
             ? std::optional(Bytes(static_cast<std::uint64_t>(number[0])))
             : std::nullopt;
}

Storage ReadStorage(const std::string& path) {
  std::array<char, 1024> buffer{};
  errno = 0;
  const std::string_view text = ReadStart(path, buffer);
  // Each with the end of the line before: cancelled_write_bytes is another.
  return {LineOf(text, "rchar:"), LineOf(text, "\nread_bytes:"), LineOf(text, "\nwrite_bytes:"),
          errno == EACCES || errno == EPERM};
}

// Adds to a tree's sum what a process of it, its root among them, had of storage.
class StorageSums {
 public:
  explicit StorageSums(const std::string& proc) : proc_(proc) {}

  Storage Add(pid_t root, pid_t pid, Usage& sum) {
    Storage storage = ReadStorage(absl::StrCat(proc_, "/", pid, "/io"));
    if (storage.refused) {
      refused_.insert(root);
    }
    if (storage.read.has_value() && storage.written.has_value()) {
      sum.read_bytes = sum.read_bytes.value_or(Bytes()) + *storage.read;
      sum.written_bytes = sum.written_bytes.value_or(Bytes()) + *storage.written;
      sum.called_bytes = sum.called_bytes.value_or(Bytes()) + storage.called.value_or(Bytes());
    }
    return storage;
  }

  // A sum that lacks what we may not see would pass for the whole.
  void Settle(std::map<pid_t, Usage>& sums) const {
    for (const pid_t root : refused_) {
      sums[root].read_bytes.reset();
      sums[root].written_bytes.reset();
      sums[root].called_bytes.reset();
    }
  }

 private:
  const std::string& proc_;
  std::set<pid_t> refused_;
};

bool CountsDelays(const std::string& proc) {
  std::array<char, 1024> buffer{};
  return ReadStart(proc + "/sys/kernel/task_delayacct", buffer).substr(0, 1) == "1";
}

void AddFaults(std::int64_t faults, Usage& sum) {
  sum.major_faults = sum.major_faults.value_or(0) + static_cast<std::uint64_t>(faults);
}

}  // namespace

std::map<pid_t, Usage> UsageBelow(const std::set<pid_t>& roots, const ProcessTable& table,
                                  const std::string& proc, TreesIo* io) {
  std::map<pid_t, Usage> sums;
  const bool delays = CountsDelays(proc);
  StorageSums storage(proc);
  std::unordered_map<pid_t, pid_t> known;
  for (const auto& [pid, stat] : table) {
    const pid_t root = RootOf(pid, roots, table, known);
    if (root != 0) {
      Usage& sum = sums[root];
      const Bytes resident = FromPages(stat[kResidentPages]);
      sum.user_cpu += FromTicks(stat[kUserTime] + stat[kChildrenUserTime]);
      sum.system_cpu += FromTicks(stat[kSystemTime] + stat[kChildrenSystemTime]);
      sum.group_memory += resident;
      AddFaults(stat[kMajorFaults] + stat[kChildrenMajorFaults], sum);
      sum.peak_memory = std::max(sum.peak_memory, resident);
      const Storage own = storage.Add(root, pid, sum);
      if (io != nullptr && own.read.has_value() && own.written.has_value()) {
        (*io)[root].push_back({pid, stat[kChildrenMinorFaults], *own.read, *own.written});
      }
      if (delays) {
        sum.io_blocked = std::max(sum.io_blocked, std::optional(FromTicks(stat[kBlockedTime])));
      }
    }
    if (roots.count(pid) != 0) {
      sums[pid].user_cpu += FromTicks(stat[kChildrenUserTime]);
      sums[pid].system_cpu += FromTicks(stat[kChildrenSystemTime]);
      AddFaults(stat[kChildrenMajorFaults], sums[pid]);
      storage.Add(pid, pid, sums[pid]);
    }
  }
  storage.Settle(sums);
  return sums;
}

Duration BusyTime(const std::string& proc) {
  std::array<char, 1024> buffer{};
  constexpr std::string_view kAll = "cpu ";
  const std::string_view text = ReadStart(proc + "/stat", buffer);
  // user nice system idle iowait irq softirq; what guests took is in the first two.
  std::array<std::int64_t, 7> ticks{};
  if (text.substr(0, kAll.size()) != kAll ||
      ReadNumbers(text.substr(kAll.size()), ticks) < ticks.size()) {
    return Duration(0);
  }
  return FromTicks(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]);
}

}  // namespace muster::agent
