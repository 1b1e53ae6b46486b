#include "agent/supervisor/pmix/pmix_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const PmixRankFacts kFirst{"muster.1.1.1.a1", "/state/attempts/1.1/pmix",
                           "muster.supervisor.77.0;tcp4://127.0.0.1:4001", 0};
const PmixRankFacts kLater{"muster.9.2.1.b2", "/state/attempts/9.2/pmix",
                           "muster.supervisor.88.0;tcp4://127.0.0.1:4002", 5};

std::vector<std::string> VariablesOf(const PmixRankFacts& facts) {
  return {"PMIX_NAMESPACE=" + facts.nspace,        "PMIX_RANK=" + std::to_string(facts.rank),
          "PMIX_SERVER_URI41=" + facts.server,     "PMIX_SERVER_URI2=" + facts.server,
          "PMIX_SERVER_TMPDIR=" + facts.directory, "PMIX_VERSION=4.2.2"};
}

class PmixPattern : public ::testing::Test {
 protected:
  PmixPattern() { std::ofstream(library_) << "one"; }
  std::vector<std::string> Learned(const std::vector<std::string>& variables) const {
    return LearnPmixPattern(PmixLibraryAt(library_), variables, kFirst);
  }

  const TempDirectory place_;
  const std::string library_ = place_ / "libpmix.so.2";
};

TEST_F(PmixPattern, TellsAnyRankOfAnyStepWhatLibpmixWould) {
  const std::vector<std::string> pattern = Learned(VariablesOf(kFirst));
  EXPECT_THAT(FillPmixPattern(pattern, kFirst), ::testing::ElementsAreArray(VariablesOf(kFirst)));
  EXPECT_THAT(FillPmixPattern(pattern, kLater), ::testing::ElementsAreArray(VariablesOf(kLater)));
  EXPECT_THAT(FillPmixPattern(pattern, kLater), Not(Contains(StartsWith("PMIX_LIBRARY_FILE"))));
}

TEST_F(PmixPattern, HoldsOnlyForTheFileItWasLearnedFrom) {
  const std::vector<std::string> pattern = Learned(VariablesOf(kFirst));
  EXPECT_TRUE(IsCurrentPmixPattern(pattern));
  std::ofstream(library_ + ".new") << "another";
  std::filesystem::rename(library_ + ".new", library_);
  EXPECT_FALSE(IsCurrentPmixPattern(pattern));
  std::filesystem::remove(library_);
  EXPECT_FALSE(IsCurrentPmixPattern(pattern));
  EXPECT_FALSE(IsCurrentPmixPattern({}));
  EXPECT_FALSE(IsCurrentPmixPattern({"PMIX_RANK=%{rank}"}));
}

TEST_F(PmixPattern, AnotherModuleIsAnotherInstallation) {
  const std::string before = PmixInstallation(library_);
  EXPECT_EQ(PmixInstallation(library_), before);
  EXPECT_EQ(before.find('\n'), std::string::npos);
  std::ofstream(library_ + ".new") << "another";
  std::filesystem::rename(library_ + ".new", library_);
  EXPECT_NE(PmixInstallation(library_), before);
}

TEST_F(PmixPattern, IsNotLearnedFromWhatItCouldNotGiveBack) {
  std::vector<std::string> odd = VariablesOf(kFirst);
  odd.emplace_back("PMIX_X=%{rank}");
  EXPECT_THAT(Learned(odd), IsEmpty());
  odd.back() = "PMIX_X=two\nlines";
  EXPECT_THAT(Learned(odd), IsEmpty());
  EXPECT_THAT(LearnPmixPattern("", VariablesOf(kFirst), kFirst), IsEmpty());
  PmixRankFacts nowhere = kFirst;
  nowhere.server = "";
  EXPECT_THAT(LearnPmixPattern(PmixLibraryAt(library_), VariablesOf(kFirst), nowhere), IsEmpty());
}

TEST(PmixServerName, IsTheOneThatAllVariablesGive) {
  EXPECT_EQ(ServerIn(VariablesOf(kFirst)), kFirst.server);
  EXPECT_EQ(ServerIn({"PMIX_SERVER_URI2=" + PmixServerAt("muster.supervisor.7", 4002)}),
            "muster.supervisor.7.0;tcp4://127.0.0.1:4002");
  EXPECT_EQ(ServerIn({"PMIX_SERVER_URI41=a", "PMIX_SERVER_URI2=b"}), "");
  EXPECT_EQ(ServerIn({"PMIX_RANK=0"}), "");
}

}  // namespace
}  // namespace muster::agent
