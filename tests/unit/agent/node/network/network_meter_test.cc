#include "agent/node/network/network_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;

// Two trees, of the supervisors 10 and 20, and what the kernel says of connections.
class NetworkMeterTest : public ::testing::Test {
 protected:
  NetworkMeterTest() {
    Link("self/ns/net", "net:[1]");
    Link("11/ns/net", "net:[1]");
    Link("21/ns/net", "net:[1]");
  }
  void Link(const std::string& name, const std::string& target) const {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path);
    std::filesystem::create_symlink(target, path);
  }
  // The socket that has the number has done so much in all.
  TcpConnection& Said(std::uint64_t number, std::uint64_t mebibytes, milliseconds busy) {
    for (TcpConnection& known : *said_) {
      if (known.cookie == number) {
        Set(known, mebibytes, busy);
        return known;
      }
    }
    TcpConnection fresh;
    fresh.cookie = fresh.inode = number;
    Set(fresh, mebibytes, busy);
    return said_->emplace_back(fresh);
  }
  static void Set(TcpConnection& connection, std::uint64_t mebibytes, milliseconds busy) {
    connection.counters.sent = kMebibyte * mebibytes;
    connection.counters.received = kMebibyte * (2 * mebibytes);
    connection.counters.resent = Bytes(mebibytes);
    connection.counters.busy = busy;
  }
  NetworkMeter Meter() {
    return NetworkMeter(directory_.path(), [this] { return said_; });
  }

  const TempDirectory directory_;
  const SteadyTime start_ = SteadyTime() + seconds(1000);
  const ProcessTrees trees_ = {{10, {11}}, {20, {21}}};
  std::optional<std::vector<TcpConnection>> said_ = std::vector<TcpConnection>();
};

TEST_F(NetworkMeterTest, WhatEachTreesSocketsDidSinceTheLastLookAddsUp) {
  NetworkMeter meter = Meter();
  Link("11/fd/3", "socket:[1]");
  Link("11/fd/4", "socket:[2]");
  Link("21/fd/3", "socket:[3]");
  Said(1, 10, milliseconds(100));
  Said(2, 1, milliseconds(300));
  Said(3, 7, milliseconds(0));
  Said(4, 1000, seconds(9));  // nobody's
  auto uses = meter.Look(trees_, {}, start_);
  EXPECT_EQ(uses.at(10).sent, kMebibyte * 11) << "since it began";
  EXPECT_EQ(uses.at(10).received, kMebibyte * 22);
  EXPECT_EQ(uses.at(10).resent, Bytes(11));
  EXPECT_EQ(uses.at(10).blocked, milliseconds(300)) << "the longest, not the sum";
  EXPECT_EQ(uses.at(20).sent, kMebibyte * 7);
  Said(1, 15, milliseconds(900));
  Said(2, 1, milliseconds(400));
  uses = meter.Look(trees_, {}, start_ + seconds(10));
  EXPECT_EQ(uses.at(10).sent, kMebibyte * 5);
  EXPECT_EQ(uses.at(10).blocked, milliseconds(800));
  EXPECT_EQ(uses.at(20).sent, Bytes(0));
  EXPECT_EQ(uses.at(20).blocked, Duration(0));
}

TEST_F(NetworkMeterTest, AConnectionStaysItsTreesUntilItIsGone) {
  NetworkMeter meter = Meter();
  Link("11/fd/3", "socket:[1]");
  Said(1, 1, {});
  meter.Look(trees_, {}, start_);
  std::filesystem::remove(directory_ / "11/fd/3");
  Said(1, 3, {}).inode = 0;
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(1)).at(10).sent, kMebibyte * 2);
  said_->clear();
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(2)).at(10).sent, Bytes(0));
}

TEST_F(NetworkMeterTest, AConnectionWithinTheMachineIsNoNetwork) {
  NetworkMeter meter = Meter();
  Link("11/fd/3", "socket:[1]");
  Said(1, 1, seconds(1)).local = true;
  const auto uses = meter.Look(trees_, {}, start_);
  EXPECT_EQ(uses.at(10).sent, Bytes(0));
  EXPECT_EQ(uses.at(10).blocked, Duration(0));
}

TEST_F(NetworkMeterTest, ASocketWhoseHolderWasNotThereYetIsLookedForOnceMore) {
  NetworkMeter meter = Meter();
  Said(1, 1, {});
  EXPECT_EQ(meter.Look(trees_, {}, start_).at(10).sent, Bytes(0));
  Link("11/fd/3", "socket:[1]");
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(1)).at(10).sent, kMebibyte);
}

TEST_F(NetworkMeterTest, WhatAnEarlierAgentCountedIsNotCountedAgain) {
  NetworkMeter meter = Meter();
  Link("11/fd/3", "socket:[1]");
  Said(1, 100, seconds(50));
  const auto first = meter.Look(trees_, {10}, start_);
  EXPECT_EQ(first.at(10).sent, Bytes(0));
  EXPECT_EQ(first.at(10).blocked, Duration(0));
  Said(1, 101, seconds(51));
  const auto second = meter.Look(trees_, {}, start_ + seconds(10));
  EXPECT_EQ(second.at(10).sent, kMebibyte);
  EXPECT_EQ(second.at(10).blocked, seconds(1));
}

TEST_F(NetworkMeterTest, BlockedIsWithinTheTimeThatPassed) {
  NetworkMeter meter = Meter();
  meter.Look(trees_, {}, start_);
  Link("11/fd/3", "socket:[1]");
  Said(1, 100, seconds(15));
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(10)).at(10).blocked, seconds(10));
}

TEST_F(NetworkMeterTest, SmallMessagesThatWaitForDelayedAcknowledgementsAreNoBusyNetwork) {
  NetworkMeter meter = Meter();
  Link("11/fd/3", "socket:[1]");
  meter.Look(trees_, {}, start_);
  TcpConnection& one = Said(1, 0, seconds(8));
  one.counters.sent = Bytes(NetworkMeter::kSlowest);
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(10)).at(10).blocked, seconds(1));
  one.counters.busy = seconds(18);
  one.counters.queued = kMebibyte * 4;
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(20)).at(10).blocked, seconds(10))
      << "what does not get away at all is";
}

TEST_F(NetworkMeterTest, WhatCannotBeToldIsNotNothing) {
  NetworkMeter meter = Meter();
  Link("21/ns/net", "net:[2]");
  EXPECT_THAT(meter.Look(trees_, {}, start_), ElementsAre(Key(10)))
      << "sockets of a namespace of its own are not listed";
  Link("11/fd/3", "socket:[1]");
  TcpConnection& one = Said(1, 1, seconds(1));
  one.counters.busy.reset();
  one.counters.resent.reset();
  const auto uses = meter.Look(trees_, {}, start_ + seconds(1));
  EXPECT_EQ(uses.at(10).sent, kMebibyte);
  EXPECT_EQ(uses.at(10).blocked, std::nullopt);
  EXPECT_EQ(uses.at(10).resent, std::nullopt);
  said_.reset();
  EXPECT_THAT(meter.Look(trees_, {}, start_ + seconds(2)), IsEmpty());
}

TEST_F(NetworkMeterTest, ATreeWithMoreDescriptorsThanAreReadIsNotMeasuredUntilItHasFewer) {
  NetworkMeter meter(directory_.path(), [this] { return said_; },
                     {.descriptors = 3, .time = seconds(60)});
  for (int fd = 3; fd < 8; ++fd) {
    Link(absl::StrCat("11/fd/", fd), "/dev/null");
  }
  Link("21/fd/3", "socket:[3]");
  Said(1, 10, {});
  Said(3, 7, {});
  Said(4, 1, {});  // nobody's
  for (int i = 0; i < 4; ++i) {
    const auto uses = meter.Look(trees_, {}, start_ + seconds(i));
    EXPECT_THAT(uses, ElementsAre(Key(20)));
  }
  for (int fd = 4; fd < 8; ++fd) {
    std::filesystem::remove(directory_ / absl::StrCat("11/fd/", fd));
  }
  Link("11/fd/3", "socket:[1]");
  EXPECT_EQ(meter.Look(trees_, {}, start_ + seconds(9)).at(10).sent, kMebibyte * 10);
}

TEST_F(NetworkMeterTest, WithoutJobsTheKernelIsNotAsked) {
  int asked = 0;
  NetworkMeter meter(directory_.path(), [&] {
    ++asked;
    return said_;
  });
  EXPECT_THAT(meter.Look({}, {}, start_), IsEmpty());
  EXPECT_EQ(asked, 0);
  meter.Look(trees_, {}, start_);
  EXPECT_EQ(asked, 1) << "once for all jobs";
}

}  // namespace
}  // namespace muster::agent
