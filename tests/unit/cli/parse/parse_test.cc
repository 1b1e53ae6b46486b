#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "cli/parse/array.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/export_list.h"
#include "cli/parse/number.h"
#include "cli/parse/request/resources.h"
#include "cli/parse/selector.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

// What no parser of numbers may let through.
const char* const kNonsense[] = {"",
                                 " ",
                                 " 1",
                                 "1 ",
                                 "+1",
                                 "-1",
                                 "0x10",
                                 "1e3",
                                 "NaN",
                                 "inf",
                                 "1.5",
                                 "10Q",
                                 "٣",
                                 "１",
                                 "1_000",
                                 "99:99:99:99",
                                 "--",
                                 "9223372036854775808",
                                 "18446744073709551616",
                                 "99999999999999999999999999",
                                 "1\n",
                                 "1;2"};

TEST(Number, CountsArePositiveAndBounded) {
  EXPECT_EQ(ParseCount("1").value(), 1U);
  EXPECT_EQ(ParseCount("007").value(), 7U);
  EXPECT_EQ(ParseCount("1000000").value(), 1'000'000U);
  EXPECT_FALSE(ParseCount("0").ok());
  EXPECT_FALSE(ParseCount("1000001").ok());
  for (const char* text : kNonsense) {
    EXPECT_FALSE(ParseCount(text).ok()) << text;
  }
}

TEST(Number, AnErrorQuotesOneShortLine) {
  const absl::Status status = ParseCount(std::string(1 << 20, 'a') + "\n").status();
  EXPECT_LT(status.message().size(), 200U);
  EXPECT_EQ(ParseCount("a\nb\x1b[31m").status().message().find('\n'), std::string::npos);
  EXPECT_THAT(std::string(ParseCount("a\nb").status().message()), HasSubstr("\"a\\nb\""));
}

TEST(Number, TextHasNoControlCharactersAndIsBounded) {
  EXPECT_TRUE(CheckText("a name, ü", 200).ok());
  EXPECT_FALSE(CheckText("a\tb", 200).ok());
  EXPECT_FALSE(CheckText(std::string("a\0b", 3), 200).ok());
  EXPECT_FALSE(CheckText(std::string(201, 'x'), 200).ok());
  EXPECT_FALSE(CheckText("\xff", 200).ok());
}

TEST(Memory, SuffixesArePowersOf1024AndPlainIsMebibytes) {
  EXPECT_EQ(ParseMemory("1").value(), kMebibyte);
  EXPECT_EQ(ParseMemory("512K").value(), Bytes(512 << 10));
  EXPECT_EQ(ParseMemory("2m").value(), kMebibyte * 2);
  EXPECT_EQ(ParseMemory("4G").value(), kGibibyte * 4);
  EXPECT_EQ(ParseMemory("1t").value(), kGibibyte * 1024);
  EXPECT_EQ(ParseMemory("1048576T").value(), kMemoryMax);
}

TEST(Memory, NonsenseIsRefused) {
  for (const char* text : {"0", "0G", "G", "10Q", "1.5G", "4GB", "-1G", "1048577T", "1 G", "4G "}) {
    EXPECT_FALSE(ParseMemory(text).ok()) << text;
  }
  for (const char* text : kNonsense) {
    EXPECT_FALSE(ParseMemory(text).ok()) << text;
  }
}

RC_GTEST_PROP(Memory, ReadsBackWhatItWrites, ()) {
  const auto kib = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 50);
  RC_ASSERT(ParseMemory(SizeText(kib << 10)).value() == Bytes(kib << 10));
}

TEST(NodeRange, IsOneNumberOrTwoInOrder) {
  EXPECT_EQ(ParseNodeRange("3").value(), (NodeRange{3, 3}));
  EXPECT_EQ(ParseNodeRange("2-4").value(), (NodeRange{2, 4}));
  for (const char* text : {"0", "4-2", "2-", "-2", "1-2-3", "1,2", "0-4"}) {
    EXPECT_FALSE(ParseNodeRange(text).ok()) << text;
  }
}

TEST(Gpus, HaveACountAndMaybeAType) {
  EXPECT_EQ(ParseGpus("2").value(), (GpuRequest{"", 2}));
  EXPECT_EQ(ParseGpus("h100:4").value(), (GpuRequest{"h100", 4}));
  for (const char* text : {"h100", "h100:", ":2", "h100:0", "a b:1", "h100:9223372036854775808"}) {
    EXPECT_FALSE(ParseGpus(text).ok()) << text;
  }
}

TEST(GpuShares, ArePartsOfOneOrPercentages) {
  EXPECT_EQ(ParseGpuShare("0.25").value(), GpuShare(250));
  EXPECT_EQ(ParseGpuShare("0.001").value(), GpuShare(1));
  EXPECT_EQ(ParseGpuShare("1").value(), kWholeGpu);
  EXPECT_EQ(ParseGpuShare("1.000").value(), kWholeGpu);
  EXPECT_EQ(ParseGpuShare("25%").value(), GpuShare(250));
  EXPECT_EQ(ParseGpuShare("12.5%").value(), GpuShare(125));
  EXPECT_EQ(ParseGpuShare("100%").value(), kWholeGpu);
  for (const char* text : {"", "0", "0%", "1.5", "101%", "0.0001", "-0.5", ".5", "0.5.5", "5.", "%",
                           "a", "1e-1", "0.25 ", "99999999999"}) {
    EXPECT_FALSE(ParseGpuShare(text).ok()) << text;
  }
}

TEST(Gres, IsOfGpusAsSlurmSaysIt) {
  EXPECT_EQ(ParseGres("gpu").value(), (GpuRequest{"", 1}));
  EXPECT_EQ(ParseGres("gpu:4").value(), (GpuRequest{"", 4}));
  EXPECT_EQ(ParseGres("gpu:h100").value(), (GpuRequest{"h100", 1}));
  EXPECT_EQ(ParseGres("gpu:h100:2").value(), (GpuRequest{"h100", 2}));
  for (const char* text : {"", "gpus", "mps:100", "gpu:", "gpu:0", "gpu:a:b", "gpu:1,mps:2"}) {
    EXPECT_FALSE(ParseGres(text).ok()) << text;
  }
}

TEST(Array, TakesListsRangesStepsAndAThrottle) {
  const ArraySpec array = ParseArray("1,3,5-9:2%4").value();
  EXPECT_EQ(ArrayIndices(array), (std::vector<std::uint32_t>{1, 3, 5, 7, 9}));
  EXPECT_EQ(array.max_running, 4U);
  EXPECT_EQ(ArrayIndices(ParseArray("0-99%10").value()).size(), 100U);
  EXPECT_EQ(ArrayIndices(ParseArray("0-8:3").value()), (std::vector<std::uint32_t>{0, 3, 6}));
  EXPECT_EQ(ParseArray("0-8:3").value().ranges[0].last, 6U);
}

TEST(Array, RefusesWhatIsNoArray) {
  for (const char* text : {"a", "1-", "-1", "5-1", "1-5:0", "1,,2", "1,", ",1", "%5", "1%", "1%0",
                           "1%2%3", "1-2-3", "4000001", "0-1000000", "1:2", "1 ,2"}) {
    EXPECT_FALSE(ParseArray(text).ok()) << text;
  }
  EXPECT_THAT(std::string(ParseArray("1-5,3").status().message()), HasSubstr("index 3 twice"));
}

TEST(Selector, NamesJobsAndElements) {
  EXPECT_EQ(ParseSelector("12").value(), (JobSelector{JobId(12), {}}));
  EXPECT_EQ(ParseSelector("12_3").value(), (JobSelector{JobId(12), {3}}));
  EXPECT_EQ(ParseSelector("12+1").value(), (JobSelector{JobId(12), {}, 1}));
  EXPECT_EQ(NamedId(ParseSelector("12+1").value()), JobId(13));
  EXPECT_FALSE(ParseSelector("12+").ok());
  EXPECT_FALSE(ParseWholeJobs({"12+1"}).ok());
  EXPECT_EQ(ParseSelector("12_[3-5,7]").value(), (JobSelector{JobId(12), {3, 4, 5, 7}}));
  for (const char* text : {"", "0", "-1", "12_", "12_[", "12_[]", "12_[3", "12_x", "_3", "12_3_4",
                           "9223372036854775808", "12_[1-2%1]", "12 "}) {
    EXPECT_FALSE(ParseSelector(text).ok()) << text;
  }
}

TEST(Selector, NamesJobsThatFollowEachOtherAsTheQueueShowsThem) {
  EXPECT_EQ(ParseWholeJobs({"7", "[12-14]"}).value(),
            (std::vector<JobSelector>{
                {JobId(7), {}}, {JobId(12), {}}, {JobId(13), {}}, {JobId(14), {}}}));
  EXPECT_EQ(ParseSelectors({"[12]"}).value(), (std::vector<JobSelector>{{JobId(12), {}}}));
  EXPECT_EQ(ParseSelectors({"[1-10000]"})->size(), 10'000U);
  EXPECT_EQ(ParseSelectors({"[1-10001]"}).status().message(),
            "\"[1-10001]\" names 10001 jobs: at most 10000");
  for (const char* text : {"[]", "[0-3]", "[3-2]", "[3-]", "[-3]", "[3-4", "[1-2,5]", "[3-4]_1",
                           "[1-9223372036854775808]"}) {
    EXPECT_FALSE(ParseSelectors({text}).ok()) << text;
  }
}

TEST(Export, IsAllNoneOrAList) {
  EXPECT_EQ(ParseExport("ALL").value(), (ExportList{true, {}, {}}));
  EXPECT_EQ(ParseExport("NONE").value(), (ExportList{false, {}, {}}));
  EXPECT_EQ(ParseExport("ALL,A=b=c,D").value(), (ExportList{true, {"D"}, {"A=b=c"}}));
  EXPECT_EQ(ParseExport("A='b,c d',E=\"f'\",G='h").value(),
            (ExportList{false, {}, {"A=b,c d", "E=f'", "G='h"}}));
  for (const char* text : {"", ",", "A,", "1A", "A B", "=x", "A-B=1"}) {
    EXPECT_FALSE(ParseExport(text).ok()) << text;
  }
}

class BeginTest : public ::testing::Test {
 protected:
  // 2026-03-14 09:26:53 UTC, a Saturday.
  const Time now_{std::chrono::milliseconds(1'773'480'413'000)};

  absl::StatusOr<Time> Parse(const char* text) {
    return ParseBegin(text, now_, absl::UTCTimeZone());
  }
  Duration After(const char* text) { return Parse(text).value() - now_; }
};

TEST_F(BeginTest, TakesDelaysAndClockTimes) {
  EXPECT_EQ(After("now"), Duration(0));
  EXPECT_EQ(After("now+90"), seconds(90));
  EXPECT_EQ(After("now+1hour"), hours(1));
  EXPECT_EQ(After("now+2days"), hours(48));
  EXPECT_EQ(After("09:27"), seconds(7));
  EXPECT_EQ(After("09:26"), hours(24) - seconds(53)) << "a moment that has passed is tomorrow's";
  EXPECT_EQ(After("2026-03-14T09:27:53"), minutes(1));
  EXPECT_EQ(After("2026-03-15"), hours(14) + minutes(33) + seconds(7));
  EXPECT_EQ(Parse("tomorrow").value(), Parse("2026-03-15").value());
  EXPECT_EQ(Parse("noon").value(), Parse("2026-03-14T12:00").value());
}

TEST_F(BeginTest, RefusesWhatIsNoTime) {
  for (const char* text : {"", "now+", "now+x", "now+1fortnight", "now-1", "24:00", "9:26", "09:60",
                           "2026-02-30", "2026-13-01", "2026-03-14 09:26", "2026-03-14T9:26",
                           "9999-01-01", "now+99999999999999999999", "now+9999999weeks"}) {
    EXPECT_FALSE(Parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::cli
