// Exchanges on one loop, over real sockets of the loopback: what goes right, strangers, and ends.

#include "agent/supervisor/exchange/exchange.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ExchangeTest : public ::testing::Test {
 protected:
  struct Node {
    std::unique_ptr<Exchange> exchange;
    std::vector<StepBreak> breaks;
    std::vector<std::string> fences;
    std::vector<std::string> modex;
    std::function<void(std::uint32_t asker, std::uint64_t id)> on_asked;  // in place of an answer
  };

  void TearDown() override {
    nodes_.clear();
    closing_.reset();
    close(log_pipe_[0]);
    close(log_pipe_[1]);
  }

  void SetUp() override {
    ASSERT_EQ(pipe2(log_pipe_, O_CLOEXEC | O_NONBLOCK), 0);
    log_.emplace(clock_, log_pipe_[1], LogLevel::kInfo, false);
    loop_ = EventLoop::Create().value();
    closing_.emplace(*loop_);
  }

  void Make(std::uint32_t count) {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < count; ++i) {
      names.push_back(absl::StrCat("n", i));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      nodes_.push_back(std::make_unique<Node>());
      Node* const node = nodes_.back().get();
      ExchangeConfig config;
      config.self = {.secret = "the secret", .step = "muster.7.1.0", .position = i};
      config.nodes = names;
      config.one_machine = true;
      ExchangeHandlers handlers;
      handlers.on_broken = [node](const StepBreak& why) { node->breaks.push_back(why); };
      handlers.on_asked = [node](std::uint32_t asker, std::uint64_t id, std::uint32_t rank) {
        if (node->on_asked) {
          node->on_asked(asker, id);
          return;
        }
        node->exchange->AnswerModex(
            asker, id, rank == 99 ? std::nullopt : std::optional(absl::StrCat("of ", rank)));
      };
      node->exchange = Exchange::Open(*loop_, *closing_, *log_, config, handlers).value();
    }
  }

  void Meet() {
    std::vector<std::vector<std::string>> addresses;
    for (const auto& node : nodes_) {
      addresses.push_back(node->exchange->addresses());
    }
    for (const auto& node : nodes_) {
      node->exchange->Meet(addresses);
    }
  }

  void Enter(std::uint32_t node, const std::string& data) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      all.push_back(i);
    }
    Node* const self = nodes_[node].get();
    self->exchange->Fence("all", all, data,
                          [self](const std::string& whole) { self->fences.push_back(whole); });
  }

  // Turns the loop until `condition` holds; false after ten seconds.
  template <class Condition>
  bool Until(Condition condition) {
    bool held = false;
    int tries = 2000;
    std::function<void()> look = [&] {
      held = condition();
      if (held || --tries == 0) {
        loop_->Stop();
      } else {
        loop_->RunAfter(std::chrono::milliseconds(5), look);
      }
    };
    loop_->RunAfter(std::chrono::milliseconds(0), look);
    EXPECT_TRUE(loop_->Run().ok());
    return held;
  }

  bool AllFenced(std::size_t times) {
    return Until([&] {
      return std::all_of(nodes_.begin(), nodes_.end(), [&](const std::unique_ptr<Node>& node) {
        return node->fences.size() == times;
      });
    });
  }

  std::string Log() {
    std::string text(65536, '\0');
    const ssize_t got = read(log_pipe_[0], text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

  // A stranger's connection to a node.
  UniqueFd Stranger(std::uint32_t node) {
    const SocketAddress where = ParseSocketAddress(nodes_[node]->exchange->addresses()[0]).value();
    UniqueFd fd(socket(where.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(fd.get(), where.get(), where.size()), 0);
    return fd;
  }

  SystemClock clock_;
  int log_pipe_[2] = {-1, -1};
  std::optional<Logger> log_;
  std::unique_ptr<EventLoop> loop_;
  std::optional<ClosingSockets> closing_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

TEST_F(ExchangeTest, TwelveNodesFenceBeforeAndAfterTheyHaveMet) {
  Make(12);
  std::string whole;
  for (std::uint32_t i = 0; i < 12; ++i) {
    Enter(i, absl::StrCat("n", i, " "));
  }
  Meet();
  ASSERT_TRUE(AllFenced(1));
  for (std::uint32_t i = 12; i-- > 0;) {
    Enter(i, std::string(200000, 'x'));
  }
  ASSERT_TRUE(AllFenced(2));
  for (const auto& node : nodes_) {
    EXPECT_EQ(node->fences[0], nodes_[0]->fences[0]);
    EXPECT_EQ(node->fences[1].size(), 12U * 200000);
    EXPECT_THAT(node->breaks, IsEmpty());
  }
  EXPECT_THAT(nodes_[11]->fences[0], HasSubstr("n7 "));
}

TEST_F(ExchangeTest, ANodeGetsWhatAnotherHasPublishedThroughThoseBetween) {
  Make(20);
  Meet();
  const auto ask = [this](std::uint32_t from, std::uint32_t to, std::uint32_t rank) {
    Node* const node = nodes_[from].get();
    node->exchange->AskModex(to, rank, [node](const std::optional<std::string>& data) {
      node->modex.push_back(data.value_or("nothing"));
    });
  };
  ask(19, 10, 5);
  ask(19, 19, 5);
  ask(19, 3, 99);
  ASSERT_TRUE(Until([&] { return nodes_[19]->modex.size() == 3; }));
  std::sort(nodes_[19]->modex.begin(), nodes_[19]->modex.end());
  EXPECT_THAT(nodes_[19]->modex, ElementsAre("nothing", "nothing", "of 5"));
}

TEST_F(ExchangeTest, ABreakReachesEveryNodeOnce) {
  Make(12);
  Meet();
  for (std::uint32_t i = 0; i < 12; ++i) {
    Enter(i, "x");
  }
  ASSERT_TRUE(AllFenced(1));
  StepBreak why;
  why.text = "rank 3 called MPI_Abort";
  why.rank = 3;
  why.status.code = 7;
  why.aborted = true;
  nodes_[11]->exchange->Break(why);
  ASSERT_TRUE(Until([&] {
    return std::all_of(nodes_.begin(), nodes_.end() - 1,
                       [](const auto& node) { return node->breaks.size() == 1; });
  }));
  EXPECT_THAT(nodes_[11]->breaks, IsEmpty()) << "it knows";
  EXPECT_EQ(nodes_[5]->breaks[0].status.code, 7);
  EXPECT_EQ(nodes_[5]->breaks[0].rank, 3U);
  EXPECT_TRUE(nodes_[5]->breaks[0].aborted);
}

TEST_F(ExchangeTest, ANodeThatDiesIsMissedByAll) {
  Make(4);
  Meet();
  for (std::uint32_t i = 0; i < 4; ++i) {
    Enter(i, "x");
  }
  ASSERT_TRUE(AllFenced(1));
  Enter(0, "y");
  nodes_[2]->exchange.reset();
  ASSERT_TRUE(Until([&] { return nodes_[0]->breaks.size() + nodes_[3]->breaks.size() == 2; }));
  EXPECT_THAT(nodes_[3]->breaks[0].text, HasSubstr("lost the supervisor on n2"));
  EXPECT_FALSE(nodes_[3]->breaks[0].rank.has_value());
}

TEST_F(ExchangeTest, WhoLeavesInOrderIsNotMissedUnlessSomebodyWaitsForIt) {
  Make(3);
  Meet();
  for (std::uint32_t i = 0; i < 3; ++i) {
    Enter(i, "x");
  }
  ASSERT_TRUE(AllFenced(1));
  nodes_[1]->exchange->Leave(/*told=*/false);
  nodes_[1]->exchange.reset();
  EXPECT_FALSE(Until([&, turns = 0]() mutable {
                 return ++turns > 20 ? true : !nodes_[0]->breaks.empty();
               }) &&
               !nodes_[0]->breaks.empty());
  Enter(0, "y");
  ASSERT_TRUE(Until([&] { return nodes_[2]->breaks.size() == 1; }));
  EXPECT_THAT(nodes_[2]->breaks[0].text, HasSubstr("the ranks on n1 are gone"));
}

TEST_F(ExchangeTest, WhoLeavesBecauseItWasToldToBreaksNothing) {
  Make(2);
  Meet();
  Enter(0, "x");
  Enter(1, "x");
  ASSERT_TRUE(AllFenced(1));
  Enter(0, "y");
  nodes_[1]->exchange->Leave(/*told=*/true);
  nodes_[1]->exchange.reset();
  Until([&, turns = 0]() mutable { return ++turns > 20; });
  EXPECT_THAT(nodes_[0]->breaks, IsEmpty());
}

TEST_F(ExchangeTest, WhatWasSaidIsHeardAlthoughWhoSaidItIsGone) {
  Make(2);
  Meet();
  Enter(0, "x");
  Enter(1, "x");
  ASSERT_TRUE(AllFenced(1));
  constexpr std::size_t kMuch = std::size_t{8} << 20;  // more than the kernel holds of it
  bool asked = false;
  nodes_[0]->on_asked = [&](std::uint32_t asker, std::uint64_t id) {
    if (!std::exchange(asked, true)) {
      nodes_[0]->exchange->AnswerModex(asker, id, std::string(kMuch, 'p'));
      nodes_[0]->exchange->Leave(false);
      loop_->Post([&] { nodes_[0]->exchange.reset(); });
    }
  };
  Node* const asker = nodes_[1].get();
  for (int i = 0; i < 20000; ++i) {  // most of it lies unread when the other goes
    asker->exchange->AskModex(0, 0, [asker](const std::optional<std::string>& data) {
      asker->modex.push_back(data.value_or("nothing"));
    });
  }
  ASSERT_TRUE(Until([&] { return asker->modex.size() == 20000; }));
  EXPECT_EQ(asker->modex[0].size(), kMuch);
  EXPECT_EQ(asker->modex[1], "nothing");
  EXPECT_THAT(asker->breaks, IsEmpty());
}

TEST_F(ExchangeTest, StrangersAreRefusedAndLoggedAndTheStepGoesOn) {
  Make(2);
  const UniqueFd garbage = Stranger(0);
  ASSERT_EQ(send(garbage.get(), "GET / HTTP/1.1\r\n\r\n", 18, 0), 18);
  ASSERT_TRUE(Until([&, seen = std::string()]() mutable {
    seen += Log();
    return seen.find("refused a caller") != std::string::npos;
  }));
  PeerSession guess =
      PeerSession::Call({.secret = "a guess", .step = "muster.7.1.0", .position = 1}, 0).value();
  const UniqueFd liar = Stranger(0);
  std::string bytes = guess.TakeOutgoing();
  // Whatever proof it sends, it is not the right one.
  wire::PeerFrame proof;
  proof.mutable_proof()->set_proof(std::string(32, 'x'));
  const std::string body = proof.SerializeAsString();
  bytes += std::string({static_cast<char>(body.size()), 0, 0, 0}) + body;
  ASSERT_EQ(send(liar.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  ASSERT_TRUE(Until([&, seen = std::string()]() mutable {
    seen += Log();
    return seen.find("does not know the attempt's secret") != std::string::npos;
  }));
  Enter(0, "a");
  Enter(1, "b");
  Meet();
  ASSERT_TRUE(AllFenced(1));
  EXPECT_EQ(nodes_[1]->fences[0], "ab");
  EXPECT_THAT(nodes_[0]->breaks, IsEmpty());
}

TEST_F(ExchangeTest, AnAddressThatLeadsToSomebodyElseIsFollowedByTheNext) {
  Make(3);
  std::vector<std::vector<std::string>> addresses;
  for (const auto& node : nodes_) {
    addresses.push_back(node->exchange->addresses());
  }
  addresses[0].insert(addresses[0].begin(), {"nonsense", "127.0.0.1:1", addresses[2][0]});
  for (const auto& node : nodes_) {
    node->exchange->Meet(addresses);
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    Enter(i, absl::StrCat(i));
  }
  ASSERT_TRUE(AllFenced(1));
}

TEST_F(ExchangeTest, WithoutASecretThereIsNoExchange) {
  ExchangeConfig config;
  config.nodes = {"a", "b"};
  config.one_machine = true;
  EXPECT_THAT(std::string(Exchange::Open(*loop_, *closing_, *log_, config, {}).status().message()),
              HasSubstr("no secret"));
}

TEST(ExchangeAddressTest, OnlyTheLoopbackListensOnOneMachine) {
  const PeerListener local = ListenForPeers(true).value();
  ASSERT_EQ(local.addresses.size(), 1U);
  EXPECT_THAT(local.addresses[0], HasSubstr("127.0.0.1:"));
  EXPECT_TRUE(IsOneMachine("unix:/run/muster/controller.sock"));
  EXPECT_TRUE(IsOneMachine("127.0.0.1:7117"));
  EXPECT_TRUE(IsOneMachine("[::1]:7117"));
  EXPECT_TRUE(IsOneMachine("localhost:7117"));
  EXPECT_FALSE(IsOneMachine("192.0.2.1:7117"));
  EXPECT_FALSE(IsOneMachine("controller.example:7117"));
}

TEST(ExchangeAddressTest, AddressesAreNumbersWithAPort) {
  EXPECT_EQ(ParseSocketAddress("192.0.2.1:7").value().family(), AF_INET);
  EXPECT_EQ(ParseSocketAddress("[2001:db8::1]:7").value().family(), AF_INET6);
  for (const char* bad : {"", "192.0.2.1", "192.0.2.1:0", "192.0.2.1:65536", "host:7", ":7"}) {
    EXPECT_FALSE(ParseSocketAddress(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace muster::agent
