#include "agent/questions/rank_processes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/node/network/socket_holders.h"
#include "agent/node/network/tcp_connections.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

namespace fs = std::filesystem;

// What one process says.
struct SeenProcess {
  std::uint64_t began = 0;  // in ticks since boot
  std::uint32_t pid = 0;
  std::string command;
  std::string state;
  std::uint32_t threads = 0;
  std::uint64_t ticks = 0;
  std::uint64_t pages = 0;
};

// After the name of /proc/PID/stat, counted from the state.
enum class StatWord : std::size_t {
  kState = 0,
  kUser = 11,
  kSystem = 12,
  kThreads = 17,
  kBegan = 19,
  kPages = 21,
  kEnd = 22
};

std::uint64_t NumberAt(const std::vector<std::string_view>& words, StatWord word) {
  std::uint64_t number = 0;
  return absl::SimpleAtoi(std::string(words[static_cast<std::size_t>(word)]), &number) ? number : 0;
}

std::optional<SeenProcess> ReadSeen(const std::string& directory, std::uint32_t pid) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/stat");
  const std::size_t begin = text.ok() ? text->find('(') : std::string::npos;
  const std::size_t end = text.ok() ? text->rfind(") ") : std::string::npos;
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return std::nullopt;
  }
  const std::string rest = text->substr(end + 2);
  std::vector<std::string_view> words;
  for (const auto word : absl::StrSplit(rest, ' ')) {
    words.emplace_back(word.data(), word.size());
  }
  if (words.size() < static_cast<std::size_t>(StatWord::kEnd)) {
    return std::nullopt;
  }
  SeenProcess seen;
  seen.pid = pid;
  seen.command = Printable(text->substr(begin + 1, end - begin - 1));
  seen.state = Printable(words[static_cast<std::size_t>(StatWord::kState)]);
  seen.ticks = NumberAt(words, StatWord::kUser) + NumberAt(words, StatWord::kSystem);
  seen.threads = static_cast<std::uint32_t>(NumberAt(words, StatWord::kThreads));
  seen.began = NumberAt(words, StatWord::kBegan);
  seen.pages = NumberAt(words, StatWord::kPages);
  return seen;
}

// The step and the rank, of a process of that attempt.
using RankName = std::pair<std::uint32_t, std::uint32_t>;

std::optional<RankName> RankOf(const std::string& directory, const AttemptKey& key,
                               const std::string& node) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/environ");
  if (!text.ok()) {
    return std::nullopt;
  }
  std::map<std::string, std::uint64_t, std::less<>> said;
  for (const auto piece : absl::StrSplit(*text, '\0')) {
    const std::size_t equals = piece.find('=');
    if (equals == absl::string_view::npos) {
      continue;
    }
    const auto name = piece.substr(0, equals);
    const auto value = piece.substr(equals + 1);
    if (name == "MUSTER_NODE_NAME" && value != node) {
      return std::nullopt;  // of another agent on this machine
    }
    for (const char* wanted :
         {"MUSTER_JOB_ID", "MUSTER_RESTART_COUNT", "MUSTER_STEP_ID", "MUSTER_PROCID"}) {
      std::uint64_t number = 0;
      if (name == wanted && absl::SimpleAtoi(value, &number)) {
        said[wanted] = number;
      }
    }
  }
  const auto job = said.find("MUSTER_JOB_ID");
  const auto restarts = said.find("MUSTER_RESTART_COUNT");
  if (job == said.end() || restarts == said.end() || job->second != key.job.value() ||
      restarts->second + 1 != key.attempt.value()) {
    return std::nullopt;
  }
  return RankName{static_cast<std::uint32_t>(said["MUSTER_STEP_ID"]),
                  static_cast<std::uint32_t>(said["MUSTER_PROCID"])};
}

std::string AllowedCpus(const std::string& directory) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/status");
  constexpr std::string_view kCpus = "Cpus_allowed_list:\t";
  const std::size_t at = text.ok() ? text->find(kCpus) : std::string::npos;
  if (at == std::string::npos) {
    return "";
  }
  const std::size_t from = at + kCpus.size();
  return text->substr(from, text->find('\n', from) - from);
}

std::vector<std::uint32_t> PidsIn(const std::string& proc) {
  std::vector<std::uint32_t> pids;
  std::error_code error;
  for (fs::directory_iterator entry(proc, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::uint32_t pid = 0;
    if (absl::SimpleAtoi(entry->path().filename().string(), &pid)) {
      pids.push_back(pid);
    }
  }
  return pids;
}

void AddPidsOfGroup(const std::string& directory, std::vector<std::uint32_t>* pids) {
  const absl::StatusOr<std::string> text = ReadFile(directory + "/cgroup.procs");
  for (const auto line : absl::StrSplit(text.ok() ? *text : "", '\n')) {
    std::uint32_t pid = 0;
    if (absl::SimpleAtoi(line, &pid)) {
      pids->push_back(pid);
    }
  }
  std::error_code error;
  for (fs::directory_iterator entry(directory, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) && !entry->is_symlink(ignored)) {
      AddPidsOfGroup(entry->path().string(), pids);
    }
  }
}

std::optional<std::uint64_t> NumberAfter(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  std::uint64_t number = 0;
  return at != std::string::npos &&
                 absl::SimpleAtoi(text.substr(at + name.size(),
                                              text.find('\n', at + name.size()) - at - name.size()),
                                  &number)
             ? std::optional(number)
             : std::nullopt;
}

void Add(const SeenProcess& seen, bool first, const std::string& directory,
         wire::RankProcesses* rank) {
  static const std::uint64_t a_second = static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  static const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (first) {
    rank->set_pid(seen.pid);
    rank->set_command(seen.command);
    rank->set_state(seen.state);
    rank->set_cpus(AllowedCpus(directory));
  }
  rank->set_processes(rank->processes() + 1);
  rank->set_threads(rank->threads() + seen.threads);
  rank->set_cpu_time(rank->cpu_time() + static_cast<std::int64_t>(seen.ticks * 1000 / a_second));
  rank->set_memory(rank->memory() + seen.pages * page);
  const std::string io = ReadFile(directory + "/io").value_or("");
  const std::optional<std::uint64_t> read = NumberAfter(io, "\nread_bytes: ");
  const std::optional<std::uint64_t> written = NumberAfter(io, "\nwrite_bytes: ");
  if (read.has_value() && written.has_value()) {
    rank->set_read_bytes(rank->read_bytes() + *read);
    rank->set_written_bytes(rank->written_bytes() + *written);
  }
}

// What the connections have sent and received that each rank's processes have open; the trees are
// the answer's ranks, by their place in it.
void AddConnections(const ProcessTrees& trees, const std::string& proc,
                    wire::ProcessAnswer* answer) {
  const std::optional<std::vector<TcpConnection>> connections = ReadTcpConnections();
  if (!connections.has_value()) {
    return;
  }
  const std::set<pid_t> elsewhere = TreesElsewhere(trees, proc);
  for (const auto& [place, pids] : trees) {
    if (elsewhere.count(place) == 0) {
      answer->mutable_ranks(place)->set_sent(0);
      answer->mutable_ranks(place)->set_received(0);
    }
  }
  std::unordered_set<std::uint64_t> sockets;
  for (const TcpConnection& connection : *connections) {
    if (!connection.local && connection.inode != 0) {
      sockets.insert(connection.inode);
    }
  }
  const std::unordered_map<std::uint64_t, pid_t> holders = HoldersOf(sockets, trees, proc);
  for (const TcpConnection& connection : *connections) {
    const auto holder = holders.find(connection.inode);
    if (connection.local || holder == holders.end() || elsewhere.count(holder->second) != 0) {
      continue;
    }
    wire::RankProcesses& rank = *answer->mutable_ranks(holder->second);
    rank.set_sent(rank.sent() + connection.counters.sent.value());
    rank.set_received(rank.received() + connection.counters.received.value());
  }
}

}  // namespace

wire::ProcessAnswer ReadRankProcesses(const AttemptKey& key, const std::string& node,
                                      const std::string& cgroup, const std::string& proc) {
  std::vector<std::uint32_t> pids;
  if (!cgroup.empty()) {
    AddPidsOfGroup(cgroup, &pids);
  }
  if (pids.empty()) {
    pids = PidsIn(proc);  // without a group, or in none that holds anything
  }
  std::map<RankName, std::vector<SeenProcess>> ranks;
  for (const std::uint32_t pid : pids) {
    const std::string directory = absl::StrCat(proc, "/", pid);
    const std::optional<RankName> rank = RankOf(directory, key, node);
    std::optional<SeenProcess> seen =
        rank.has_value() ? ReadSeen(directory, pid) : std::optional<SeenProcess>();
    if (seen.has_value()) {
      ranks[*rank].push_back(*std::move(seen));
    }
  }
  wire::ProcessAnswer answer;
  ProcessTrees trees;
  for (auto& [name, processes] : ranks) {
    std::sort(processes.begin(), processes.end(), [](const SeenProcess& a, const SeenProcess& b) {
      return std::pair(a.began, a.pid) < std::pair(b.began, b.pid);
    });
    wire::RankProcesses& rank = *answer.add_ranks();
    rank.set_step(name.first);
    rank.set_rank(name.second);
    for (const SeenProcess& seen : processes) {
      Add(seen, &seen == &processes.front(), absl::StrCat(proc, "/", seen.pid), &rank);
      trees[answer.ranks_size() - 1].push_back(static_cast<pid_t>(seen.pid));
    }
  }
  AddConnections(trees, proc, &answer);
  return answer;
}

}  // namespace muster::agent
