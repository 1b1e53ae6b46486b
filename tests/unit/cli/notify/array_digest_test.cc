#include "cli/notify/array_digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Time kNow(std::chrono::hours(500'000));

class ArrayDigestTest : public ::testing::Test {
 protected:
  JobView& Add(const std::string& state, std::int32_t code) {
    JobView job;
    job.id = JobId(5 + ended_.size());
    job.label = absl::StrCat("5_", ended_.size());
    job.state = state;
    job.exit_code = code;
    job.start_time = kNow;
    job.end_time = kNow + std::chrono::seconds(100);
    job.cpus = 2;
    job.memory = Bytes(1000);
    ended_.push_back(std::move(job));
    return ended_.back();
  }
  static void Use(JobView& job, int seconds, std::uint64_t memory) {
    job.usage.user_cpu = std::chrono::seconds(seconds);
    job.usage.group_memory = Bytes(memory);
  }
  ArrayDigest Digest() {
    return DigestOf(ended_, [this](JobId job) {
      ++asked_;
      JobDetail detail;
      detail.work_dir = "/home/ada";
      detail.stdout_path = absl::StrCat("out.", job.value());
      return absl::StatusOr<JobDetail>(detail);
    });
  }

  std::vector<JobView> ended_;
  int asked_ = 0;
};

TEST_F(ArrayDigestTest, SaysWhyElementsEndedAsTheyDidAndWhereTheyWrote) {
  Add("COMPLETED", 0);
  Add("FAILED", 3);
  Add("FAILED", 3);
  Add("OUT_OF_MEMORY", 1).exit_text = "out of memory\nBcc: eve";
  JobView& waited = Add("CANCELLED", 0);
  waited.start_time = kNoTime;
  waited.indices = {{10, 19, 1}};
  const ArrayDigest digest = Digest();
  EXPECT_FALSE(digest.all_well);
  EXPECT_EQ(digest.sums, "10 CANCELLED, 1 COMPLETED, 2 FAILED, 1 OUT_OF_MEMORY");
  EXPECT_THAT(digest.text, HasSubstr("\nWhy:\n  10 CANCELLED: without having started\n"
                                     "  2 FAILED: exit code 3\n"));
  EXPECT_THAT(digest.text,
              HasSubstr("5_2  FAILED  exit code 3\n      output in /home/ada/out.7\n"));
  EXPECT_THAT(digest.text, HasSubstr("outputs: that of 5_0 is /home/ada/out.5;"));
  EXPECT_THAT(digest.text, Not(HasSubstr("\nBcc")));
  EXPECT_THAT(digest.text, Not(HasSubstr("efficiency"))) << "nothing was measured";
}

TEST_F(ArrayDigestTest, SaysWhatWasUsedOfAllAndWhichElementsUsedTheLeast) {
  Use(Add("COMPLETED", 0), 200, 900);
  Use(Add("COMPLETED", 0), 20, 500);
  Use(Add("COMPLETED", 0), 80, 100);
  Use(Add("COMPLETED", 0), 100, 1000);
  Add("COMPLETED", 0);  // its node was lost: not measured
  const ArrayDigest digest = Digest();
  EXPECT_TRUE(digest.all_well);
  EXPECT_THAT(digest.text, HasSubstr("CPU efficiency 50 % in all; least: 5_1 10 %, 5_2 40 %, "
                                     "5_3 50 %\n"));
  EXPECT_THAT(digest.text, HasSubstr("memory efficiency 62 % in all; least: 5_2 10 %, 5_1 50 %, "
                                     "5_0 90 %\n"));
  EXPECT_THAT(digest.text, HasSubstr("lost work: none\n"));
  EXPECT_THAT(digest.text, Not(HasSubstr("Why")));
}

TEST_F(ArrayDigestTest, SaysWhatWorkWasLost) {
  Add("COMPLETED", 0).checkpoints.lost = std::chrono::seconds(30);
  Add("COMPLETED", 0).checkpoints.lost = std::chrono::minutes(2);
  ended_.back().restarts = 2;
  EXPECT_THAT(Digest().text,
              HasSubstr("lost work: 2:30, 2 restarts in all; most: 5_1 2:00, 5_0 0:30.00\n"));
}

TEST_F(ArrayDigestTest, SaysWhatItCostAndTookWhereThatIsKnown) {
  Add("COMPLETED", 0);
  EXPECT_THAT(Digest().text, Not(HasSubstr("cost")));
  EXPECT_THAT(Digest().text, Not(HasSubstr("energy")));
  for (int i = 0; i < 2; ++i) {
    JobView& job = Add("COMPLETED", 0);
    job.cost = Cost(kCostUnit * 5 / 4);
    job.currency = "EUR";
    job.usage.gpu_energy_mj = 1'800'000'000;
  }
  EXPECT_THAT(Digest().text, HasSubstr("energy 1.0 kWh in all\ncost 2.50 EUR in all\n"));
}

TEST_F(ArrayDigestTest, IsBoundedHoweverManyElementsFail) {
  for (int i = 0; i < 5000; ++i) {
    Add("FAILED", i % 100);
  }
  const ArrayDigest digest = Digest();
  EXPECT_THAT(digest.text, HasSubstr("and 90 other reasons\n"));
  EXPECT_THAT(digest.text, HasSubstr("and 4950 more\n"));
  EXPECT_LT(digest.text.size(), 10'000U);
  EXPECT_LE(asked_, 21);
}

}  // namespace
}  // namespace muster::cli
