#include "agent/supervisor/mpi/pmi_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

// One rank of two, and what its supervisor knows of it.
class Rank {
 public:
  PmiStore store;
  std::string told;
  PmiSession session{
      "muster.1.1.1",
      2,
      store,
      {[this] { told += "join "; }, [this] { told += "barrier "; }, [this] { told += "leave "; },
       [this](int code) { told += "abort " + std::to_string(code); }}};

  std::string Say(const std::string& line) {
    const absl::StatusOr<std::string> answer = session.Take(line + "\n");
    return answer.ok() ? *answer : "closed";
  }
};

TEST(PmiWire, AnswersWhatMpichAsks) {
  Rank rank;
  EXPECT_EQ(rank.Say("cmd=init pmi_version=1 pmi_subversion=1"),
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  EXPECT_EQ(rank.Say("cmd=get_maxes"), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
  EXPECT_EQ(rank.Say("cmd=get_appnum"), "cmd=appnum appnum=0\n");
  EXPECT_EQ(rank.Say("cmd=get_universe_size"), "cmd=universe_size size=2\n");
  EXPECT_EQ(rank.Say("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=muster.1.1.1\n");
  EXPECT_EQ(rank.Say("cmd=put kvsname=k key=P0-businesscard value=port#1$host=x"),
            "cmd=put_result rc=0 msg=success\n");
  EXPECT_EQ(rank.Say("cmd=get kvsname=k key=P0-businesscard"),
            "cmd=get_result rc=0 msg=success value=port#1$host=x\n");
  EXPECT_THAT(rank.Say("cmd=get kvsname=k key=P1-businesscard"), HasSubstr("rc=-1"));
  EXPECT_EQ(rank.Say("cmd=barrier_in"), "");
  EXPECT_EQ(rank.Say("cmd=finalize"), "cmd=finalize_ack\n");
  EXPECT_EQ(rank.told, "join barrier leave ");
}

TEST(PmiWire, RefusesToSpawnAndToPublish) {
  Rank rank;
  EXPECT_EQ(rank.Say("mcmd=spawn"), "");
  EXPECT_EQ(rank.Say("nprocs=2"), "");
  EXPECT_EQ(rank.Say("cmd=finalize"), "") << "it is part of the request";
  EXPECT_THAT(rank.Say("endcmd"), HasSubstr("cmd=spawn_result rc=-1"));
  EXPECT_THAT(rank.Say("cmd=publish_name service=a port=b"), HasSubstr("cmd=publish_result rc=-1"));
  EXPECT_THAT(rank.Say("cmd=lookup_name service=a"), HasSubstr("cmd=lookup_result rc=-1"));
  EXPECT_EQ(rank.told, "");
}

TEST(PmiWire, AnAbortTellsItsCode) {
  Rank rank;
  rank.Say("cmd=abort exitcode=7");
  EXPECT_EQ(rank.told, "abort 7");
}

TEST(PmiWire, WhatIsNoLineOfItEndsTheSession) {
  for (const char* line : {"", "   ", "hello", "cmd=", "=init", "cmd=nothing", "cmd=init cmd=init",
                           "     6cmd=x;", "-5cmd=init", "000000", "CMD=init", "GET / HTTP/1.1"}) {
    EXPECT_EQ(Rank().Say(line), "closed") << line;
  }
}

TEST(PmiWire, ALineWithoutEndIsBounded) {
  Rank rank;
  absl::StatusOr<std::string> answer = std::string();
  std::size_t sent = 0;
  for (; answer.ok() && sent < 100 * PmiSession::kLineMax; sent += 100) {
    answer = rank.session.Take(std::string(100, 'x'));
  }
  EXPECT_FALSE(answer.ok());
  EXPECT_LE(sent, PmiSession::kLineMax + 200);
}

TEST(PmiWire, KeysAndValuesAreBoundedAndPlain) {
  Rank rank;
  const auto put = [&](const std::string& key, const std::string& value) {
    return rank.Say("cmd=put kvsname=k key=" + key + " value=" + value);
  };
  EXPECT_THAT(put(std::string(PmiSession::kKeyMax, 'k'), std::string(PmiSession::kValueMax, 'v')),
              HasSubstr("rc=0"));
  EXPECT_THAT(put(std::string(PmiSession::kKeyMax + 1, 'k'), "v"), HasSubstr("rc=-1"));
  EXPECT_THAT(put("k", std::string(PmiSession::kValueMax + 1, 'v')), HasSubstr("rc=-1"));
  EXPECT_THAT(put("", "v"), HasSubstr("rc=-1"));
  EXPECT_THAT(put("k\x01", "v"), HasSubstr("rc=-1"));
  PmiStore store;
  absl::Status last;
  for (int i = 0; last.ok() && i < 1'000'000; ++i) {
    last = store.Put("key" + std::to_string(i), std::string(PmiSession::kValueMax, 'v'));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(last)) << "what is kept has an end";
}

TEST(PmiWire, WhatOneNodesRanksPutTheOthersFindAfterTheBarrier) {
  PmiStore here;
  PmiStore there;
  ASSERT_TRUE(here.Put("a", "1=2").ok());
  ASSERT_TRUE(there.Put("b", "").ok());
  const std::string whole = here.TakeFresh() + there.TakeFresh();
  EXPECT_TRUE(here.Merge(whole).ok());
  EXPECT_TRUE(there.Merge(whole).ok());
  EXPECT_EQ(*there.Get("a"), "1=2");
  EXPECT_EQ(*here.Get("b"), "");
  EXPECT_EQ(here.TakeFresh(), "") << "nothing is told twice";
  EXPECT_FALSE(here.Merge("no line").ok());
  EXPECT_FALSE(here.Merge("no pair\n").ok());
}

TEST(PmiWire, AnyBytesInAnyPiecesAreTakenOrRefused) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& pieces) {
    Rank rank;
    for (const std::string& piece : pieces) {
      if (!rank.session.Take(piece).ok()) {
        return;
      }
    }
  }));
}

TEST(PmiWire, HowTheBytesArePiecedMakesNoDifference) {
  EXPECT_TRUE(rc::check([] {
    const std::string said =
        "cmd=init pmi_version=1 pmi_subversion=1\ncmd=put kvsname=k key=a value=b\n"
        "cmd=get kvsname=k key=a\ncmd=barrier_in\ncmd=finalize\n";
    Rank whole;
    Rank pieces;
    std::string answers;
    for (std::size_t at = 0; at < said.size();) {
      const auto size = *rc::gen::inRange<std::size_t>(1, 20);
      answers += *pieces.session.Take(said.substr(at, size));
      at += size;
    }
    RC_ASSERT(answers == *whole.session.Take(said));
    RC_ASSERT(pieces.told == whole.told);
  }));
}

}  // namespace
}  // namespace muster::agent
