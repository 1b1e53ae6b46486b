#include "scheduler/model/policy/tres.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace muster {
namespace {

TresList ParseTres(const std::string& text) {
  TresList list;
  EXPECT_TRUE(MergeTres(text, &list).ok()) << text;
  return list;
}

TEST(Tres, ReadsSlurmsFormAndWritesItBack) {
  const TresList list = ParseTres("mem=4G,cpu=10,gres/gpu:A100=1,gres/gpu=2,node=3");
  EXPECT_EQ(TresText(list), "cpu=10,mem=4G,node=3,gres/gpu=2,gres/gpu:a100=1");
  EXPECT_EQ(ParseTres("mem=512").front().count, std::uint64_t{512} << 20);
  EXPECT_EQ(TresText(ParseTres("gres/scratch=3,cpu=4")), "cpu=4,gres/scratch=3");
}

TEST(Tres, NamedAmountsAreReplacedMinusOneTakesOneAwayNothingTakesAll) {
  TresList list = ParseTres("cpu=10,mem=4G");
  ASSERT_TRUE(MergeTres("cpu=5,node=2", &list).ok());
  EXPECT_EQ(TresText(list), "cpu=5,mem=4G,node=2");
  ASSERT_TRUE(MergeTres("mem=-1", &list).ok());
  EXPECT_EQ(TresText(list), "cpu=5,node=2");
  ASSERT_TRUE(MergeTres("", &list).ok());
  EXPECT_TRUE(list.empty());
}

TEST(Tres, NonsenseIsToldInOneLineAndChangesNothing) {
  for (const char* bad : {"cpu", "cpu=", "cpu=x", "cpu=-2", "cpu=1.5", "disk=4", "gres/gpu:=1",
                          "gres/=1", "cpu=1,,mem=2", "mem=99999999999T", "cpu= 4"}) {
    TresList list = ParseTres("cpu=7");
    const absl::Status status = MergeTres(bad, &list);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_EQ(status.message().find('\n'), std::string::npos);
    EXPECT_EQ(TresText(list), "cpu=7") << bad;
  }
}

TEST(Tres, EveryListComesBackFromItsText) {
  rc::check("text round trip", [] {
    TresList list;
    const auto add = [&](TresKind kind, const std::string& type) {
      if (*rc::gen::arbitrary<bool>()) {
        list.push_back(Tres{kind, type, *rc::gen::inRange<std::uint64_t>(0, 1ULL << 50)});
      }
    };
    add(TresKind::kCpu, "");
    add(TresKind::kMemory, "");
    add(TresKind::kNode, "");
    add(TresKind::kGpu, "");
    add(TresKind::kGpu, "a100");
    add(TresKind::kGpu, "h100-80");
    RC_ASSERT(ParseTres(TresText(list)) == list);
  });
}

}  // namespace
}  // namespace muster
