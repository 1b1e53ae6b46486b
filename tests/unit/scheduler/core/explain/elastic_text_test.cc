#include "scheduler/core/explain/elastic_text.h"

#include <gtest/gtest.h>

#include "scheduler/core/plan/search/elastic_size.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::At;

class ElasticTextTest : public ::testing::Test {
 protected:
  ElasticTextTest() {
    ResourceRequest request;
    request.min_nodes = 2;
    request.max_nodes = 8;
    job_.id = JobId(7);
    job_.spec = std::make_shared<const JobSpec>(testing::Normal(request));
    job_.attempt.emplace().number = AttemptNumber(3);
    resize_.job = job_.id;
    resize_.attempt = AttemptNumber(3);
    resize_.nodes = 8;
    resize_.cost = seconds(60);
  }
  std::string Text(ResizeVerdict verdict, Duration wait = Duration(0)) {
    resize_.verdict = verdict;
    resize_.when = now_ + wait;
    return ElasticText(job_, &resize_, now_);
  }

  const Time now_ = At(1000);
  Job job_;
  PlannedResize resize_;
};

TEST_F(ElasticTextTest, ItSaysWhyTheJobDoesNotGrow) {
  resize_.gain = seconds(12);
  EXPECT_EQ(Text(ResizeVerdict::kTooLittle),
            "2-8 nodes; stays: 8 would gain 12 s, a change costs 60 s");
  EXPECT_EQ(Text(ResizeVerdict::kTooSoon, minutes(9)),
            "2-8 nodes; may grow to 8 in 9 min: its last change was too short ago");
  EXPECT_EQ(Text(ResizeVerdict::kNoRoom), "2-8 nodes; no further node is free for it");
  EXPECT_EQ(Text(ResizeVerdict::kLargest), "2-8 nodes; has as many as it may have");
}

TEST_F(ElasticTextTest, ItSaysWhatGrowthGains) {
  resize_.gain = minutes(41);
  EXPECT_EQ(Text(ResizeVerdict::kGrow, seconds(25)),
            "2-8 nodes; grows to 8 in 25 s: gains 41 min, a change costs 60 s");
  resize_.gain = kNeverEnds;
  EXPECT_EQ(Text(ResizeVerdict::kGrow, seconds(25)),
            "2-8 nodes; grows to 8 in 25 s: gains time, and it has no limit, a change costs 60 s");
}

TEST_F(ElasticTextTest, ItSaysForWhomTheJobShrinks) {
  resize_.nodes = 5;
  resize_.for_job = JobId(12);
  resize_.gain = minutes(41);
  EXPECT_EQ(Text(ResizeVerdict::kShrink, seconds(25)),
            "2-8 nodes; shrinks to 5 in 25 s for job 12, which starts 41 min sooner, a change "
            "costs 60 s");
  resize_.gain = kNeverEnds;
  EXPECT_EQ(
      Text(ResizeVerdict::kShrink, seconds(25)),
      "2-8 nodes; shrinks to 5 in 25 s for job 12, which starts at last, a change costs 60 s");
}

TEST_F(ElasticTextTest, OfAnotherAttemptNothingIsSaid) {
  Plan plan;
  plan.resizes = {resize_};
  EXPECT_EQ(FindResize(&plan, job_), &plan.resizes.front());
  job_.attempt->number = AttemptNumber(4);
  EXPECT_EQ(FindResize(&plan, job_), nullptr);
  EXPECT_EQ(FindResize(nullptr, job_), nullptr);
  job_.attempt.reset();
  EXPECT_EQ(ElasticText(job_, nullptr, now_), "2-8 nodes");
}

}  // namespace
}  // namespace muster::core
