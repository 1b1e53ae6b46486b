#include "cli/connect/port_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "cli/connect/relayed_port.h"
#include "cli/connect/target.h"

namespace muster::cli {
namespace {

struct Pipe {
  UniqueFd from;
  UniqueFd to;
};

Pipe MakePipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(fd, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

UniqueFd Blocking(UniqueFd fd) {
  fcntl(fd.get(), F_SETFL, 0);
  return fd;
}

// Both ends, with a service at the far one; a caller's bytes go there and the answer comes back.
TEST(PortChannel, CarriesEachDirectionToItsOwnEnd) {
  UniqueFd service = *TakeOnLoopback(0);
  const ForwardedPort target{0, "127.0.0.1", PortOf(service)};
  EXPECT_FALSE(CheckListens(target).ok());
  ASSERT_TRUE(Listen(service).ok());
  UniqueFd listener = *TakeOnLoopback(0);
  const ForwardedPort near{0, "127.0.0.1", PortOf(listener)};
  ASSERT_TRUE(Listen(listener).ok());
  Pipe down = MakePipe();
  Pipe up = MakePipe();
  Pipe stop = MakePipe();
  auto front = std::make_unique<PortChannel>(std::move(up.from), std::move(down.to));
  front->OnReady([&] { front->Listen(std::move(listener)); });
  PortChannel back(std::move(down.from), std::move(up.to));
  back.OpenWith([target] { return BeginConnection(target); });
  back.SayReady();
  std::thread far([&back] { EXPECT_TRUE(back.Run(-1).ok()); });
  std::thread here([&] {
    EXPECT_TRUE(front->Run(stop.from.get()).ok());
    front.reset();
  });
  const UniqueFd caller = Blocking(*BeginConnection(near));
  const std::string sent(3 * PortChannel::kWindowBytes, 'x');
  std::thread sends([&] {
    for (std::size_t at = 0; at < sent.size();) {
      const ssize_t put = send(caller.get(), sent.data() + at, sent.size() - at, MSG_NOSIGNAL);
      ASSERT_GT(put, 0);
      at += static_cast<std::size_t>(put);
    }
    shutdown(caller.get(), SHUT_WR);
  });
  const UniqueFd served(accept(Blocking(std::move(service)).get(), nullptr, nullptr));
  EXPECT_EQ(ReadAll(served.get()), sent);
  EXPECT_EQ(write(served.get(), "answer", 6), 6);
  shutdown(served.get(), SHUT_WR);
  EXPECT_EQ(ReadAll(caller.get()), "answer");
  EXPECT_EQ(write(stop.to.get(), "x", 1), 1);
  sends.join();
  here.join();
  far.join();
}

TEST(PortChannel, WhatIsNoFrameEndsIt) {
  Pipe in = MakePipe();
  Pipe out = MakePipe();
  PortChannel channel(std::move(in.from), std::move(out.to));
  const std::string noise("\0\0\0\1\1\0\0", 7);  // a connection, and nowhere to take it
  ASSERT_EQ(write(in.to.get(), noise.data(), noise.size()), static_cast<ssize_t>(noise.size()));
  EXPECT_FALSE(channel.Run(-1).ok());
}

TEST(RelayedPort, IsRefusedWhereNobodyListens) {
  const UniqueFd taken = *TakeOnLoopback(0);
  const absl::StatusOr<int> refused = RelayPort({0, "127.0.0.1", PortOf(taken)});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace muster::cli
