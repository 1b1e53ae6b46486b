#include "tests/unit/agent/supervisor/run_client.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/unix_socket.h"

namespace muster::agent {
namespace {

constexpr int kTimeoutMs = 10000;

bool Readable(int fd) {
  pollfd poller = {fd, POLLIN, 0};
  return poll(&poller, 1, kTimeoutMs) == 1;
}

}  // namespace

RunClient::RunClient(const std::string& path)
    : address_("unix:" + path), listener_(BindUnix(path, SOCK_STREAM).value()) {}

RunClient::RunClient(std::vector<std::string> tokens)
    : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), tokens_(std::move(tokens)) {
  const int little = 4096;
  setsockopt(listener_.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener_.get(), 1), 0);
  EXPECT_EQ(getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
}

std::optional<wire::StepHello> RunClient::Accept() {
  if (!Readable(listener_.get())) {
    return std::nullopt;
  }
  connection_.reset(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const std::optional<wire::StepFrame> frame = Next();
  return frame.has_value() && frame->has_hello() ? std::optional(frame->hello()) : std::nullopt;
}

std::optional<wire::StepFrame> RunClient::Next() {
  std::vector<char> chunk(1 << 16);
  while (true) {
    if (buffer_.size() >= 4) {
      std::size_t length = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        length |= static_cast<std::size_t>(static_cast<unsigned char>(buffer_[i])) << (8 * i);
      }
      if (buffer_.size() >= 4 + length) {
        wire::StepFrame frame;
        EXPECT_TRUE(frame.ParseFromString(buffer_.substr(4, length)));
        buffer_.erase(0, 4 + length);
        return frame;
      }
    }
    if (!Readable(connection_.get())) {
      return std::nullopt;
    }
    const ssize_t got = recv(connection_.get(), chunk.data(), chunk.size(), 0);
    if (got <= 0) {
      return std::nullopt;
    }
    const std::string_view bytes(chunk.data(), static_cast<std::size_t>(got));
    if (tokens_.empty()) {
      buffer_ += bytes;
    } else if (!seal_.Take(bytes, tokens_, &seen_, &buffer_).ok()) {
      return std::nullopt;
    }
  }
}

void RunClient::Send(const wire::StepFrame& frame) {
  const std::string body = frame.SerializeAsString();
  std::string bytes;
  for (std::size_t i = 0; i < 4; ++i) {
    bytes.push_back(static_cast<char>((body.size() >> (8 * i)) & 0xff));
  }
  bytes = Sealed(bytes + body);
  EXPECT_EQ(send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

void RunClient::SendInput(const std::string& data) {
  wire::StepFrame frame;
  frame.mutable_input()->set_data(data);
  Send(frame);
}

void RunClient::SendInputUntilFull() {
  constexpr int kFullMs = 200;
  wire::StepFrame frame;
  frame.mutable_input()->set_data(std::string(60000, 'i'));
  const std::string body = frame.SerializeAsString();
  const std::string plain = std::string({static_cast<char>(body.size() & 0xff),
                                         static_cast<char>(body.size() >> 8), 0, 0}) +
                            body;
  std::string bytes = Sealed(plain);
  std::size_t sent = 0;
  pollfd poller = {connection_.get(), POLLOUT, 0};
  while (poll(&poller, 1, kFullMs) == 1) {
    const ssize_t took = send(connection_.get(), bytes.data() + sent, bytes.size() - sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    ASSERT_GT(took, 0) << "the connection ended";
    sent += static_cast<std::size_t>(took);
    if (sent == bytes.size()) {
      bytes = Sealed(plain);
      sent = 0;
    }
  }
}

RunClient::Gathered RunClient::Gather() {
  Gathered all;
  while (!all.done) {
    const std::optional<wire::StepFrame> frame = Next();
    if (!frame.has_value()) {
      break;
    }
    if (frame->has_output()) {
      (frame->output().error() ? all.error : all.output) += frame->output().data();
    } else if (frame->has_exit()) {
      absl::StrAppend(&all.exits, frame->exit().rank(), ":", frame->exit().code(), ":",
                      frame->exit().signal(), " ");
    }
    all.done = frame->has_done();
  }
  Close();
  return all;
}

}  // namespace muster::agent
