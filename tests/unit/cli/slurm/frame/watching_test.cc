// What the environment stands in for, and how often a command shows.

#include "cli/slurm/frame/watching.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

constexpr Row kWatched[] = {{"iterate", 'i', Takes::kValue}, {"sort", 'S', Takes::kValue}};

Words Read(const std::vector<std::string>& arguments) {
  return ReadWords(kWatched, Operands::kAnywhere, arguments).value();
}

TEST(Watching, AnOptionComesBeforeTheEnvironment) {
  const Environment environment({"SQUEUE_SORT=P"});
  EXPECT_EQ(ValueOr(Read({}), "sort", environment, "SQUEUE_SORT"), "P");
  EXPECT_EQ(ValueOr(Read({"-S", ""}), "sort", environment, "SQUEUE_SORT"), "");
  EXPECT_EQ(ValueOr(Read({"-Si"}), "sort", environment, "SQUEUE_SORT"), "i");
}

TEST(Watching, APauseIsAPositiveNumberOfSeconds) {
  EXPECT_EQ(ReadPause(Read({})).value(), 0U);
  EXPECT_EQ(ReadPause(Read({"-i3"})).value(), 3U);
  for (const char* const bad : {"-i0", "-ix", "-i-1", "-i100000"}) {
    EXPECT_FALSE(ReadPause(Read({bad})).ok()) << bad;
  }
}

}  // namespace
}  // namespace muster::cli::slurm
