#pragma once

// Ranks of a test: processes that talk by sockets, so that one of them can be killed and the others
// notice.
//
// Thread promise: one thread at a time. Invariant: when a process ends, every call of the others
// that needs it answers false.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "checkpoint/group/group.h"

namespace muster::checkpoint {

// A star: every message goes through rank 0, but those of Exchange, for which each two ranks have a
// socket of their own. What is exchanged at once fits into its buffer.
class SocketGroup : public Group {
 public:
  // `sockets`: on rank 0 one to each rank (its own unused), elsewhere the one to rank 0.
  // `mesh`: one to each other rank.
  SocketGroup(std::uint32_t rank, std::uint32_t ranks, std::vector<int> sockets,
              std::vector<int> mesh)
      : rank_(rank), ranks_(ranks), sockets_(std::move(sockets)), mesh_(std::move(mesh)) {}

  std::uint32_t rank() const override { return rank_; }
  std::uint32_t ranks() const override { return ranks_; }

  bool Broadcast(std::uint32_t root, void* bytes, std::size_t size) override {
    if (rank_ != 0) {
      return (rank_ != root || Send(0, bytes, size)) && Receive(0, bytes, size);
    }
    bool ok = root == 0 || Receive(root, bytes, size);
    for (std::uint32_t to = 1; ok && to < ranks_; ++to) {
      ok = Send(to, bytes, size);
    }
    return ok;
  }
  bool Gather(const void* own, std::size_t size, void* all) override {
    if (rank_ != 0) {
      return Send(0, own, size);
    }
    std::memcpy(all, own, size);
    bool ok = true;
    for (std::uint32_t from = 1; ok && from < ranks_; ++from) {
      ok = Receive(from, static_cast<char*>(all) + from * size, size);
    }
    return ok;
  }
  bool Least(std::uint64_t* value) override {
    std::vector<std::uint64_t> all(ranks_);
    if (!Gather(value, sizeof *value, all.data())) {
      return false;
    }
    *value = *std::min_element(all.begin(), all.end());  // rank 0's counts
    return Broadcast(0, value, sizeof *value);
  }
  bool CanExchange() const override { return true; }
  bool Exchange(const Outgoing& out, const Incoming& in) override {
    if (out.size > 0 && !SendOn(mesh_[out.to], out.bytes, out.size)) {
      return false;
    }
    return in.size == 0 ||
           recv(mesh_[in.from], in.bytes, in.size, MSG_WAITALL) == static_cast<ssize_t>(in.size);
  }

 private:
  bool Send(std::uint32_t to, const void* bytes, std::size_t size) {
    return SendOn(sockets_[to], bytes, size);
  }
  static bool SendOn(int socket, const void* bytes, std::size_t size) {
    const char* next = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t sent = send(socket, next, size, MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      next += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  }
  bool Receive(std::uint32_t from, void* bytes, std::size_t size) {
    return recv(sockets_[from], bytes, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::vector<int> sockets_;
  std::vector<int> mesh_;
};

// A socket between each two ranks: [a][b] is a's end.
inline std::vector<std::vector<int>> MakeMesh(std::uint32_t ranks) {
  std::vector<std::vector<int>> mesh(ranks, std::vector<int>(ranks, -1));
  for (std::uint32_t a = 0; a < ranks; ++a) {
    for (std::uint32_t b = a + 1; b < ranks; ++b) {
      std::array<int, 2> pair{};
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
      mesh[a][b] = pair[0];
      mesh[b][a] = pair[1];
    }
  }
  return mesh;
}

// All ends but those of `rank`.
inline void CloseMesh(const std::vector<std::vector<int>>& mesh, std::uint32_t rank) {
  for (std::uint32_t other = 0; other < mesh.size(); ++other) {
    for (const int end : mesh[other]) {
      if (other != rank && end >= 0) {
        close(end);
      }
    }
  }
}

// Runs `work(group)` in a process for each rank: the exit statuses, or minus the signals that ended
// them.
template <class Work>
std::vector<int> EndsOfRanks(std::uint32_t ranks, const Work& work) {
  std::vector<std::array<int, 2>> pairs(ranks);
  for (auto& pair : pairs) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  }
  const std::vector<std::vector<int>> mesh = MakeMesh(ranks);
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    children.push_back(fork());
    if (children.back() == 0) {
      std::vector<int> own;
      for (std::uint32_t other = 0; other < ranks; ++other) {
        const bool mine = rank == 0 || other == rank;
        close(pairs[other][rank == 0 ? 1 : 0]);
        if (mine) {
          own.push_back(pairs[other][rank == 0 ? 0 : 1]);
        } else {
          close(pairs[other][1]);
        }
      }
      CloseMesh(mesh, rank);
      SocketGroup group(rank, ranks, own, mesh[rank]);
      _exit(work(group));
    }
  }
  CloseMesh(mesh, ranks);
  for (const auto& pair : pairs) {
    close(pair[0]);
    close(pair[1]);
  }
  std::vector<int> ends;
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    ends.push_back(WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
  }
  return ends;
}

}  // namespace muster::checkpoint
