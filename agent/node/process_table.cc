#include "agent/node/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

std::string_view ReadStart(const std::string& path, std::array<char, 1024>& buffer) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd.valid() ? read(fd.get(), buffer.data(), buffer.size()) : -1;
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

std::optional<ProcStat> ReadProcStat(const std::string& path) {
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
  ProcStat fields{};
  std::copy(numbers.begin(), numbers.end(), fields.begin() + kParent);
  return fields;
}

ProcessTable ReadProcessTable(const std::string& proc) {
  ProcessTable table;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(proc.c_str()), closedir);
  if (directory == nullptr) {
    return table;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* const entry = readdir(directory.get())) {
    const std::optional<pid_t> pid = PidOf(entry->d_name);
    // One that ends meanwhile is its parent's.
    if (const std::optional<ProcStat> stat =
            pid.has_value() ? ReadProcStat(absl::StrCat(proc, "/", entry->d_name, "/stat"))
                            : std::nullopt) {
      table.emplace(*pid, *stat);
    }
  }
  return table;
}

std::optional<pid_t> PidOf(std::string_view name) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(pid)
                                                                  : std::nullopt;
}

pid_t RootOf(pid_t pid, const std::set<pid_t>& roots, const ProcessTable& table,
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

std::map<pid_t, std::vector<pid_t>> ProcessesBelow(const std::set<pid_t>& roots,
                                                   const ProcessTable& table) {
  std::map<pid_t, std::vector<pid_t>> below;
  std::unordered_map<pid_t, pid_t> known;
  for (const auto& [pid, stat] : table) {
    if (roots.count(pid) != 0) {
      below.try_emplace(pid);
    }
    if (const pid_t root = RootOf(pid, roots, table, known); root != 0) {
      below[root].push_back(pid);
    }
  }
  return below;
}

}  // namespace muster::agent
