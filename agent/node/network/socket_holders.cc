#include "agent/node/network/socket_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "scheduler/base/time_shares.h"

namespace muster::agent {
namespace {

using LinkBuffer = std::array<char, 64>;  // longer links are no sockets and no namespaces

std::string_view LinkAt(int directory, const char* path, LinkBuffer& buffer) {
  const ssize_t length = readlinkat(directory, path, buffer.data(), buffer.size());
  return {buffer.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

// Of "socket:[4711]".
std::optional<std::uint64_t> SocketOf(std::string_view link) {
  constexpr std::string_view kStart = "socket:[";
  std::uint64_t inode = 0;
  if (link.substr(0, kStart.size()) != kStart) {
    return std::nullopt;
  }
  const auto [end, error] =
      std::from_chars(link.data() + kStart.size(), link.data() + link.size(), inode);
  return error == std::errc() && end != link.data() + link.size() ? std::optional(inode)
                                                                  : std::nullopt;
}

using Instant = std::chrono::steady_clock::time_point;

Instant Later(Duration time) {
  const Instant now = std::chrono::steady_clock::now();
  return time > std::chrono::hours(24) ? Instant::max() : now + time;
}

// Up to `most` descriptors, until `deadline`; false: there are more.
template <class Take>
bool ForEachSocket(const std::string& proc, pid_t pid, int most, Instant deadline, Take take) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open_files(
      opendir(absl::StrCat(proc, "/", pid, "/fd").c_str()), closedir);
  if (open_files == nullptr) {
    return true;
  }
  LinkBuffer buffer{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* const entry = readdir(open_files.get())) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    if (most-- <= 0 || std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    if (const std::optional<std::uint64_t> socket =
            SocketOf(LinkAt(dirfd(open_files.get()), entry->d_name, buffer))) {
      take(*socket);
    }
  }
  return true;
}

}  // namespace

std::unordered_map<std::uint64_t, pid_t> HoldersOf(const std::unordered_set<std::uint64_t>& sockets,
                                                   const ProcessTrees& trees,
                                                   const std::string& proc) {
  HolderSearch search(proc,
                      {.descriptors = std::numeric_limits<int>::max(), .time = Duration::max()});
  return search.Search(sockets, trees).holders;
}

SearchResult HolderSearch::Search(const std::unordered_set<std::uint64_t>& sockets,
                                  const ProcessTrees& trees) {
  SearchResult result;
  std::erase_if(next_, [&](const auto& each) { return trees.count(each.first) == 0; });
  ShareTime(
      trees, std::chrono::steady_clock::now, Later(bounds_.time),
      [&](const auto& group, Instant deadline) {
        if (result.holders.size() == sockets.size()) {
          return false;
        }
        const auto& tree = group.first;
        const std::vector<pid_t>& processes = group.second;
        const auto stopped = std::find(processes.begin(), processes.end(), next_[tree]);
        const std::size_t first =
            stopped == processes.end() ? 0 : static_cast<std::size_t>(stopped - processes.begin());
        bool whole = true;
        bool in_time = true;
        for (std::size_t j = 0;
             j < processes.size() && in_time && result.holders.size() < sockets.size(); ++j) {
          const pid_t pid = processes[(first + j) % processes.size()];
          const bool all =
              ForEachSocket(proc_, pid, bounds_.descriptors, deadline, [&](std::uint64_t socket) {
                if (sockets.count(socket) != 0) {
                  result.holders.emplace(socket, tree);
                }
              });
          in_time = std::chrono::steady_clock::now() < deadline;
          // One that takes more than the time of a whole search must not be the only one read.
          next_[tree] = processes[(first + j + (in_time || j == 0 ? 1 : 0)) % processes.size()];
          whole = whole && all && (in_time || j + 1 == processes.size());
        }
        (whole ? result.whole : result.cut).insert(tree);
        return true;
      });
  return result;
}

std::set<pid_t> TreesElsewhere(const ProcessTrees& trees, const std::string& proc, Duration limit) {
  std::set<pid_t> elsewhere;
  const Instant deadline = Later(limit);
  LinkBuffer buffer{};
  const std::string own(LinkAt(AT_FDCWD, absl::StrCat(proc, "/self/ns/net").c_str(), buffer));
  for (const auto& [tree, processes] : trees) {
    for (const pid_t pid : processes) {
      if (deadline != Instant::max() && std::chrono::steady_clock::now() >= deadline) {
        elsewhere.insert(tree);
        break;
      }
      errno = 0;
      const std::string_view link =
          LinkAt(AT_FDCWD, absl::StrCat(proc, "/", pid, "/ns/net").c_str(), buffer);
      const bool ended = link.empty() && (errno == ENOENT || errno == ESRCH);
      if (!ended && (own.empty() || link != own)) {
        elsewhere.insert(tree);
        break;
      }
    }
  }
  return elsewhere;
}

}  // namespace muster::agent
