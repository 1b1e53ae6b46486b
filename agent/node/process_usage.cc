#include "agent/node/process_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// Fields of /proc/PID/stat counted from the state, which is field 3 of proc(5).
enum ProcStatField : std::size_t {
  kParent = 1,
  kUserTime = 11,
  kSystemTime = 12,
  kChildrenUserTime = 13,
  kChildrenSystemTime = 14,
  kResidentPages = 21,
  kFieldsLeast = 22,
  kBlockedTime = 39,  // delayacct_blkio_ticks, of the first thread
  kFields = 40,
};

using Fields = std::array<std::int64_t, kFields>;

Duration FromTicks(std::int64_t ticks) {
  static const std::int64_t a_second = sysconf(_SC_CLK_TCK);
  return Duration(ticks * 1000 / a_second);
}

Bytes FromPages(std::int64_t pages) {
  static const std::int64_t page = sysconf(_SC_PAGESIZE);
  return Bytes(static_cast<std::uint64_t>(std::max<std::int64_t>(pages, 0) * page));
}

// The start of a file, which is all of those that we read; empty when it cannot be read.
std::string_view ReadStart(const std::string& path, std::array<char, 1024>& buffer) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd.valid() ? read(fd.get(), buffer.data(), buffer.size()) : -1;
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

// The whole numbers at the start of `text`, with blanks between them: how many there are, at most
// all. One that is too large for its place, as no limit is, is the largest.
template <std::size_t kCount>
std::size_t ReadNumbers(std::string_view text, std::array<std::int64_t, kCount>& fields) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  std::size_t count = 0;
  for (std::int64_t& field : fields) {
    while (at != end && *at == ' ') {
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, field);
    if (error == std::errc::result_out_of_range) {
      field = std::numeric_limits<std::int64_t>::max();
    } else if (error != std::errc()) {
      break;
    }
    at = next;
    ++count;
  }
  return count;
}

std::optional<Fields> ReadStat(const std::string& path) {
  std::array<char, 1024> buffer{};
  const std::string_view text = ReadStart(path, buffer);
  const std::size_t name_end = text.rfind(") ");
  constexpr std::size_t kStateBytes = 4;  // ") S "
  if (name_end == std::string_view::npos || text.size() < name_end + kStateBytes) {
    return std::nullopt;
  }
  std::array<std::int64_t, kFields - 1> numbers{};
  if (ReadNumbers(text.substr(name_end + kStateBytes), numbers) < kFieldsLeast - 1) {
    return std::nullopt;
  }
  Fields fields{};
  std::copy(numbers.begin(), numbers.end(), fields.begin() + kParent);
  return fields;
}

// What /proc/PID/io counts of a process, its threads, and the children that it has waited for.
struct Storage {
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
  return {LineOf(text, "\nread_bytes:"), LineOf(text, "\nwrite_bytes:"),
          errno == EACCES || errno == EPERM};
}

using Table = std::unordered_map<pid_t, Fields>;

Table ReadTable(const std::string& proc) {
  Table table;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(proc.c_str()), closedir);
  if (directory == nullptr) {
    return table;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* const entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) {
      continue;
    }
    // One that ends meanwhile is its parent's.
    if (const std::optional<Fields> stat =
            ReadStat(absl::StrCat(proc, "/", entry->d_name, "/stat"))) {
      table.emplace(pid, *stat);
    }
  }
  return table;
}

// The nearest root above `pid`; 0: none. Remembers what it finds on its way.
pid_t RootOf(pid_t pid, const std::set<pid_t>& roots, const Table& table,
             std::unordered_map<pid_t, pid_t>& known) {
  std::vector<pid_t> way;
  pid_t root = 0;
  for (pid_t at = pid; root == 0;) {
    const auto found = table.find(at);
    const auto remembered = known.find(at);
    if (remembered != known.end()) {
      root = remembered->second;
      break;
    }
    // Parents that changed while we looked may form a ring.
    if (found == table.end() || way.size() > table.size()) {
      break;
    }
    way.push_back(at);
    at = static_cast<pid_t>(found->second[kParent]);
    root = roots.count(at) != 0 ? at : 0;
  }
  for (const pid_t passed : way) {
    known.emplace(passed, root);
  }
  return root;
}

// Adds to a tree's sum what a process of it, its root among them, had of storage.
class StorageSums {
 public:
  explicit StorageSums(const std::string& proc) : proc_(proc) {}

  void Add(pid_t root, pid_t pid, Usage& sum) {
    const Storage storage = ReadStorage(absl::StrCat(proc_, "/", pid, "/io"));
    if (storage.refused) {
      refused_.insert(root);
    }
    if (storage.read.has_value() && storage.written.has_value()) {
      sum.read_bytes = sum.read_bytes.value_or(Bytes()) + *storage.read;
      sum.written_bytes = sum.written_bytes.value_or(Bytes()) + *storage.written;
    }
  }

  // A sum that lacks what we may not see would pass for the whole.
  void Settle(std::map<pid_t, Usage>& sums) const {
    for (const pid_t root : refused_) {
      sums[root].read_bytes.reset();
      sums[root].written_bytes.reset();
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

}  // namespace

std::map<pid_t, Usage> UsageBelow(const std::set<pid_t>& roots, const std::string& proc) {
  std::map<pid_t, Usage> sums;
  if (roots.empty()) {
    return sums;
  }
  const Table table = ReadTable(proc);
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
      sum.peak_memory = std::max(sum.peak_memory, resident);
      storage.Add(root, pid, sum);
      if (delays) {
        sum.io_blocked = std::max(sum.io_blocked, std::optional(FromTicks(stat[kBlockedTime])));
      }
    }
    if (roots.count(pid) != 0) {
      sums[pid].user_cpu += FromTicks(stat[kChildrenUserTime]);
      sums[pid].system_cpu += FromTicks(stat[kChildrenSystemTime]);
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
