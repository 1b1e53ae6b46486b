#pragma once

// Who listens on a unix socket and answers calls in frames, as a test says.
//
// Thread promise: made and destroyed by the test's thread; `answer` runs on the peer's own.
// Invariants: it serves one connection after the other, and ends with the object.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "scheduler/runtime/unique_fd.h"

namespace muster::cli::testing {

inline std::string FrameNumber(std::size_t number) {
  std::string bytes;
  for (unsigned i = 0; i < 4; ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
  return bytes;
}

// An answer in frames: a status code, its text and the reply's message.
inline std::string FramedAnswer(std::size_t code, const std::string& text,
                                const std::string& reply) {
  return FrameNumber(8 + text.size() + reply.size()) + FrameNumber(code) +
         FrameNumber(text.size()) + text + reply;
}

class FramedPeer {
 public:
  // Bytes to send after the greeting; "" ends the connection, nothing says nothing.
  using Serve = std::function<std::optional<std::string>(const std::string& method,
                                                         const std::string& request)>;

  // `greeting` is sent before the first answer on a connection.
  FramedPeer(const std::string& path, Serve serve, std::string greeting = "MUSTER1\n")
      : serve_(std::move(serve)), greeting_(std::move(greeting)) {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.c_str(), std::min(path.size(), sizeof(name.sun_path) - 1));
    listening_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    LimitWaits(listening_.get());
    EXPECT_EQ(bind(listening_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)), 0);
    EXPECT_EQ(listen(listening_.get(), 8), 0);
    thread_ = std::thread([this] { Run(); });
  }
  FramedPeer(const FramedPeer&) = delete;
  FramedPeer& operator=(const FramedPeer&) = delete;
  ~FramedPeer() {
    over_ = true;
    thread_.join();
  }

  [[nodiscard]] int connections() const { return connections_; }

 private:
  // So that the thread looks whether it is over.
  static void LimitWaits(int fd) {
    const timeval time{0, 20'000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  }

  void Run() {
    while (!over_) {
      const UniqueFd fd(accept(listening_.get(), nullptr, nullptr));
      if (fd.valid()) {
        ++connections_;
        LimitWaits(fd.get());
        ServeOne(fd.get());
      }
    }
  }

  // False at the end of the connection, or of the test.
  bool Read(int fd, std::size_t size, std::string& bytes) {
    bytes.clear();
    while (bytes.size() < size && !over_) {
      std::string piece(size - bytes.size(), '\0');
      const ssize_t got = recv(fd, piece.data(), piece.size(), 0);
      if (got == 0) {
        return false;
      }
      bytes.append(piece, 0, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    return bytes.size() == size;
  }

  static std::size_t NumberIn(std::string_view bytes) {
    std::size_t number = 0;
    for (unsigned i = 0; i < 4; ++i) {
      number |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return number;
  }

  void ServeOne(int fd) {
    std::string bytes;
    if (!Read(fd, 8, bytes)) {
      return;
    }
    EXPECT_EQ(bytes, "MUSTER1\n");
    std::string greeting = greeting_;
    while (Read(fd, 4, bytes) && Read(fd, NumberIn(bytes), bytes)) {
      const std::size_t length = NumberIn(bytes);
      const std::optional<std::string> answer =
          serve_(bytes.substr(4, length), bytes.substr(4 + length));
      if (!answer.has_value()) {
        continue;
      }
      if (answer->empty()) {
        return;
      }
      const std::string sent = greeting + *answer;
      greeting.clear();
      EXPECT_EQ(send(fd, sent.data(), sent.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(sent.size()));
    }
  }

  const Serve serve_;
  const std::string greeting_;
  UniqueFd listening_;
  std::atomic<bool> over_ = false;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

}  // namespace muster::cli::testing
