// Parity over a set: which losses come back to the byte, and that the others are refused.

#include "checkpoint/parity/erasure.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

namespace muster::checkpoint {
namespace {

// `count` members with different bytes of different lengths.
std::vector<Member> SetOf(std::uint32_t count, std::uint64_t size) {
  std::vector<Member> set(count);
  std::uint64_t state = 88172645463325252U;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint64_t byte = 0; byte < size + 13 * i; ++byte) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      set[i].data += static_cast<char>(state);
    }
  }
  return set;
}

std::vector<std::uint64_t> SizesOf(const std::vector<Member>& set) {
  std::vector<std::uint64_t> sizes;
  for (const Member& member : set) {
    sizes.push_back(member.data.size());
  }
  return sizes;
}

bool Same(const std::vector<Member>& a, const std::vector<Member>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Member& x, const Member& y) {
    return x.data == y.data && x.parity == y.parity;
  });
}

// Whether the set survives the loss of the members whose bits are set.
bool Survives(const Erasure& erasure, const std::vector<Member>& whole, std::uint32_t losses) {
  std::vector<Member> set = whole;
  std::vector<bool> lost(set.size(), false);
  for (std::uint32_t member = 0; member < set.size(); ++member) {
    if ((losses >> member & 1) != 0) {
      lost[member] = true;
      set[member] = {"garbage", "garbage"};
    }
  }
  const Error error = Rebuild(erasure, SizesOf(whole), lost, &set);
  EXPECT_TRUE(error.failed() || Same(set, whole)) << "rebuilt to something else";
  return !error.failed();
}

// Of all subsets of that many members of a set of 8: how many survive, and how many there are.
std::pair<int, int> SurvivorsOf(std::uint32_t parities, int losses) {
  const Erasure erasure = Erasure::Make(8, parities).value;
  std::vector<Member> set = SetOf(8, 1000);
  Encode(erasure, &set);
  std::pair<int, int> counts = {0, 0};
  for (std::uint32_t bits = 0; bits < 256; ++bits) {
    if (__builtin_popcount(bits) == losses) {
      counts.first += Survives(erasure, set, bits) ? 1 : 0;
      ++counts.second;
    }
  }
  return counts;
}

TEST(ErasureTest, XorOfEightSurvivesEachOneAndNoTwo) {
  EXPECT_EQ(SurvivorsOf(1, 1), std::make_pair(8, 8));
  EXPECT_EQ(SurvivorsOf(1, 2), std::make_pair(0, 28));
}

TEST(ErasureTest, ReedSolomonTwoOfEightSurvivesEachOneAndEachTwoAndNoThree) {
  EXPECT_EQ(SurvivorsOf(2, 1), std::make_pair(8, 8));
  EXPECT_EQ(SurvivorsOf(2, 2), std::make_pair(28, 28));
  EXPECT_EQ(SurvivorsOf(2, 3), std::make_pair(0, 56));
}

TEST(ErasureTest, WhatIsStoredBesideTheDataIsWhatTheFormulaSays) {
  for (const std::uint32_t parities : {1U, 2U, 3U}) {
    const Erasure erasure = Erasure::Make(8, parities).value;
    std::vector<Member> set(8);
    for (Member& member : set) {
      member.data.assign(840'000, 'x');
    }
    Encode(erasure, &set);
    EXPECT_DOUBLE_EQ(static_cast<double>(set[3].parity.size()) / 840'000,
                     static_cast<double>(parities) / (8 - parities));
  }
}

TEST(ErasureTest, OneParityIsThePlainXor) {
  const Erasure erasure = Erasure::Make(3, 1).value;
  std::vector<Member> set = {{"ab", ""}, {"cd", ""}, {"ef", ""}};
  Encode(erasure, &set);
  // Stripe 0: its parity is member 0's, of the first segments of the others.
  EXPECT_EQ(set[0].parity, std::string(1, 'c' ^ 'e'));
  EXPECT_EQ(set[1].parity, std::string(1, 'a' ^ 'f'));
  EXPECT_EQ(set[2].parity, std::string(1, 'b' ^ 'd'));
}

TEST(ErasureTest, AnySetSurvivesAnyLossesUpToItsParities) {
  EXPECT_TRUE(rc::check([] {
    const auto members = *rc::gen::inRange<std::uint32_t>(2, 20);
    const auto parities = *rc::gen::inRange<std::uint32_t>(1, members);
    const auto size = *rc::gen::inRange<std::uint64_t>(0, 300);
    const Erasure erasure = Erasure::Make(members, parities).value;
    std::vector<Member> set = SetOf(members, size);
    Encode(erasure, &set);
    std::uint32_t losses = 0;
    for (std::uint32_t i = 0; i < parities; ++i) {
      losses |= 1U << *rc::gen::inRange<std::uint32_t>(0, members);
    }
    RC_ASSERT(Survives(erasure, set, losses));
  }));
}

TEST(ErasureTest, TheLargestSetsHoldToo) {
  for (const auto& [members, parities] :
       {std::pair(254U, 2U), std::pair(252U, 4U), std::pair(128U, 127U)}) {
    const Erasure erasure = Erasure::Make(members, parities).value;
    std::vector<Member> set = SetOf(members, 10);
    Encode(erasure, &set);
    std::vector<Member> broken = set;
    std::vector<bool> lost(members, false);
    for (std::uint32_t i = 0; i < parities; ++i) {
      const std::uint32_t victim = (i * 37 + 5) % members;
      lost[victim] = true;
      broken[victim] = {};
    }
    ASSERT_FALSE(Rebuild(erasure, SizesOf(set), lost, &broken).failed());
    EXPECT_TRUE(Same(set, broken));
  }
}

TEST(ErasureTest, SetsThatCannotBeAndMembersOfAnotherSizeAreRefused) {
  EXPECT_FALSE(Erasure::Make(1, 1).ok());
  EXPECT_FALSE(Erasure::Make(4, 0).ok());
  EXPECT_FALSE(Erasure::Make(4, 4).ok());
  EXPECT_FALSE(Erasure::Make(255, 2).ok());
  const Erasure erasure = Erasure::Make(4, 1).value;
  std::vector<Member> set = SetOf(4, 100);
  Encode(erasure, &set);
  std::vector<Member> shorter = set;
  shorter[2].data.pop_back();
  const std::vector<bool> lost = {true, false, false, false};
  EXPECT_EQ(Rebuild(erasure, SizesOf(set), lost, &shorter).fault, Fault::kCorrupt);
}

}  // namespace
}  // namespace muster::checkpoint
