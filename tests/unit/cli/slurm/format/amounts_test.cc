#include "cli/slurm/format/amounts.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// 2031-02-03T04:05:06 UTC.
const Time kThen = Time(seconds(1'927'857'906));

TEST(Moments, AreIsoUnlessTheEnvironmentSaysOtherwise) {
  EXPECT_EQ(Clockface().Text(kThen, "N/A"), "2031-02-03T04:05:06");
  EXPECT_EQ(Clockface().Text(kNoTime, "N/A"), "N/A");
  for (const char* usual : {"SLURM_TIME_FORMAT=", "SLURM_TIME_FORMAT=standard"}) {
    EXPECT_EQ(Clockface(Environment({usual})).Text(kThen, "").size(), 19U) << usual;
  }
  EXPECT_EQ(Clockface(Environment({"SLURM_TIME_FORMAT=%s"})).Text(kThen, ""), "1927857906");
}

TEST(Durations, OfProcessorsHaveThousandthsBelowAnHour) {
  EXPECT_EQ(CpuDuration(Duration(39)), "00:00.039");
  EXPECT_EQ(CpuDuration(Duration(0)), "00:00:00");
  EXPECT_EQ(CpuDuration(minutes(61)), "01:01:00");
}

TEST(Tres, NamesOnlyWhatThereIs) {
  EXPECT_EQ(TresText(2, kMebibyte * 200, 1, 1), "cpu=2,mem=200M,node=1,billing=2,gres/gpu=1");
  EXPECT_EQ(TresText(1, Bytes(), 1, 0), "cpu=1,node=1,billing=1");
}

}  // namespace
}  // namespace muster::cli::slurm
