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
#include <vector>

#include "checkpoint/group.h"

namespace muster::checkpoint {

// A star: every message goes through rank 0.
class SocketGroup : public Group {
 public:
  // `sockets`: on rank 0 one to each rank (its own unused), elsewhere the one to rank 0.
  SocketGroup(std::uint32_t rank, std::uint32_t ranks, std::vector<int> sockets)
      : rank_(rank), ranks_(ranks), sockets_(std::move(sockets)) {}

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

 private:
  bool Send(std::uint32_t to, const void* bytes, std::size_t size) {
    const char* next = static_cast<const char*>(bytes);
    while (size > 0) {
      const ssize_t sent = send(sockets_[to], next, size, MSG_NOSIGNAL);
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
};

// Runs `work(group)` in a process for each rank: the exit statuses, or minus the signals that ended
// them.
template <class Work>
std::vector<int> EndsOfRanks(std::uint32_t ranks, const Work& work) {
  std::vector<std::array<int, 2>> pairs(ranks);
  for (auto& pair : pairs) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
  }
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
      SocketGroup group(rank, ranks, own);
      _exit(work(group));
    }
  }
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
