#include "checkpoint/parity/protection_set.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "checkpoint/parity/parity_file.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::ElementsAre;

TEST(ProtectionSets, TakeOneRankOfEachNode) {
  // Two ranks on each of four nodes: sets of four.
  EXPECT_THAT(MakeSets({1, 1, 2, 2, 3, 3, 4, 4}, 4, 1),
              ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_TRUE(MakeSets({7, 7, 7}, 4, 1).empty());
  // A rest that could protect nobody joins the set before.
  EXPECT_THAT(MakeSets({1, 2, 3}, 2, 1), ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(SetOf({{0, 2}, {1, 3}}, 3), ElementsAre(1, 3));
  EXPECT_TRUE(SetOf({{0, 2}}, 1).empty());
}

TEST(ProtectionSetsProperty, ARankIsInOneSetAndASetMeetsADomainOnce) {
  EXPECT_TRUE(rc::check([] {
    const auto nodes = *rc::gen::inRange<std::uint64_t>(1, 12);
    const auto domains =
        *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, nodes));
    const auto parities = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto size = *rc::gen::inRange<std::uint32_t>(parities + 1, 12);
    const std::vector<ProtectionSet> sets = MakeSets(domains, size, parities);
    std::set<std::uint32_t> seen;
    std::size_t members = 0;
    for (const ProtectionSet& set : sets) {
      RC_ASSERT(set.size() > parities);
      RC_ASSERT(set.size() <= size + parities && set.size() <= kSetMembersMax);
      std::set<std::uint64_t> met;
      for (const std::uint32_t rank : set) {
        RC_ASSERT(rank < domains.size());
        met.insert(domains[rank]);
        seen.insert(rank);
      }
      RC_ASSERT(met.size() == set.size());
      members += set.size();
    }
    RC_ASSERT(seen.size() == members);
    // With as many ranks on each of enough nodes, nobody is left out.
    const std::set<std::uint64_t> all(domains.begin(), domains.end());
    const bool even = std::all_of(all.begin(), all.end(), [&](std::uint64_t node) {
      return std::count(domains.begin(), domains.end(), node) *
                 static_cast<std::int64_t>(all.size()) ==
             static_cast<std::int64_t>(domains.size());
    });
    if (even && all.size() > parities) {
      RC_ASSERT(members == domains.size());
    }
  }));
}

using ParityFiles = StoreFiles;

TEST_F(ParityFiles, EveryFlippedByteIsFound) {
  const OpenFile directory(Disk::Real(), open(directory_.c_str(), O_RDONLY | O_DIRECTORY));
  const ParityHead head{7, 2, 5, 12, 0xabc, {3, 7, 9}};
  Result<ParityWriter> writer = ParityWriter::Open(Disk::Real(), directory.get(), head);
  ASSERT_TRUE(writer.ok()) << writer.error.text;
  ASSERT_EQ(writer.value.Append("firstother", 10).text, "");
  ASSERT_EQ(writer.value.Finish().text, "");
  const Result<ParityFile> file = ParityFile::Open(Disk::Real(), directory.get(), 7);
  ASSERT_TRUE(file.ok()) << file.error.text;
  EXPECT_THAT(file.value.head().set, ElementsAre(3, 7, 9));
  EXPECT_EQ(file.value.head().seal, 0xabcU);
  std::string bytes(4, '\0');
  ASSERT_EQ(file.value.Read(1, 1, bytes.data(), bytes.size()).text, "");
  EXPECT_EQ(bytes, "ther");
  const std::string good = Slurp(directory_ / "parity-000007");
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    Spill(directory_ / "parity-000007", bad);
    EXPECT_FALSE(ParityFile::Open(Disk::Real(), directory.get(), 7).ok()) << i;
    Spill(directory_ / "parity-000007", good.substr(0, i));
    EXPECT_FALSE(ParityFile::Open(Disk::Real(), directory.get(), 7).ok()) << i;
  }
  fs::rename(directory_ / "parity-000007", directory_ / "parity-000008");
  Spill(directory_ / "parity-000008", good);
  EXPECT_FALSE(ParityFile::Open(Disk::Real(), directory.get(), 8).ok());
}

}  // namespace
}  // namespace muster::checkpoint
