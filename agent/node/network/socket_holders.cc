#include "agent/node/network/socket_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"

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

template <class Take>
void ForEachSocket(const std::string& proc, pid_t pid, Take take) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open_files(
      opendir(absl::StrCat(proc, "/", pid, "/fd").c_str()), closedir);
  if (open_files == nullptr) {
    return;
  }
  LinkBuffer buffer{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a stream of our own
  while (const dirent* const entry = readdir(open_files.get())) {
    if (const std::optional<std::uint64_t> socket =
            SocketOf(LinkAt(dirfd(open_files.get()), entry->d_name, buffer))) {
      take(*socket);
    }
  }
}

}  // namespace

std::unordered_map<std::uint64_t, pid_t> HoldersOf(const std::unordered_set<std::uint64_t>& sockets,
                                                   const ProcessTrees& trees,
                                                   const std::string& proc) {
  std::unordered_map<std::uint64_t, pid_t> holders;
  for (const auto& [tree, processes] : trees) {
    for (const pid_t pid : processes) {
      if (holders.size() == sockets.size()) {
        return holders;
      }
      ForEachSocket(proc, pid, [&, root = tree](std::uint64_t socket) {
        if (sockets.count(socket) != 0) {
          holders.emplace(socket, root);
        }
      });
    }
  }
  return holders;
}

std::set<pid_t> TreesElsewhere(const ProcessTrees& trees, const std::string& proc) {
  std::set<pid_t> elsewhere;
  LinkBuffer buffer{};
  const std::string own(LinkAt(AT_FDCWD, absl::StrCat(proc, "/self/ns/net").c_str(), buffer));
  for (const auto& [tree, processes] : trees) {
    for (const pid_t pid : processes) {
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
