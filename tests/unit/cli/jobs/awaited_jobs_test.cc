// What explain says of the jobs that a waiting job depends on.

#include "cli/jobs/awaited_jobs.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

JobView Waiting() {
  JobView job;
  job.label = "13";
  job.state = "PENDING";
  return job;
}

AwaitedJob Awaited(const std::string& state) {
  AwaitedJob awaited;
  awaited.job.label = "12";
  awaited.job.name = "stage-in of train";
  awaited.job.state = state;
  return awaited;
}

TEST(AwaitedJobs, OneThatCopiesSaysHowFarItIs) {
  AwaitedJob copies = Awaited("RUNNING");
  copies.job.start_time = Time(Duration(1));
  EXPECT_EQ(AwaitedText(Waiting(), {copies}), "  job 12 (stage-in of train) RUNNING\n");
  copies.copied = 1 << 20;
  copies.to_copy = 1 << 22;
  copies.rate = 1 << 19;
  EXPECT_EQ(AwaitedText(Waiting(), {copies}),
            "  job 12 (stage-in of train) RUNNING: 1 MiB of 4 MiB copied, 512 KiB/s\n");
}

TEST(AwaitedJobs, OneThatWaitsItselfSaysWhy) {
  AwaitedJob waits = Awaited("PENDING");
  waits.job.reason.text = "held\n";
  EXPECT_EQ(AwaitedText(Waiting(), {waits}), "  job 12 (stage-in of train) PENDING: held\\x0a\n");
}

TEST(AwaitedJobs, OneThatFailedSaysHowToGoOn) {
  AwaitedJob failed = Awaited("FAILED");
  failed.job.exit_code = 1;
  EXPECT_EQ(AwaitedText(Waiting(), {failed}),
            "  job 12 (stage-in of train) FAILED: exit code 1; muster logs 12 says why. To go on: "
            "muster rerun 12 and, with its number N, muster update 13 --dependency afterok:N "
            "(none: it need not wait); or muster cancel 13\n");
}

TEST(AwaitedJobs, OfManyTheFirstFewAreShown) {
  const std::vector<AwaitedJob> many(8, Awaited("PENDING"));
  const std::string text = AwaitedText(Waiting(), many);
  EXPECT_EQ(text.substr(text.rfind("  and")), "  and 3 more that it waits for\n");
}

}  // namespace
}  // namespace muster::cli
