#include "cli/stage/rclone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(Rclone, ItsLogSaysHowFarItIsAndWhatWentWrong) {
  const RcloneLine stats = ReadRcloneLine(
      R"({"level":"warning","msg":"\nTransferred","stats":{"bytes":5,"totalBytes":9,"speed":1.5}})");
  EXPECT_EQ(stats.done, 5U);
  EXPECT_EQ(stats.total, 9U);
  EXPECT_FALSE(stats.says.has_value());
  EXPECT_EQ(ReadRcloneLine(R"({"level":"error","msg":"not found","object":"a"})").says,
            "a: not found");
  EXPECT_EQ(ReadRcloneLine("panic").says, "panic");
}

TEST(Rclone, AListSaysWhatASourceIsInWhateverOrderItComes) {
  const SourceState state =
      StateOfList("s3:b", {"2024-01-01 00:00:00\t5\ta", "2024-01-02 00:00:00\t7\tb/c"}).value();
  EXPECT_EQ(state.bytes, 12U);
  EXPECT_EQ(
      StateOfList("s3:b", {"2024-01-02 00:00:00\t7\tb/c", "2024-01-01 00:00:00\t5\ta"}).value(),
      state);
  EXPECT_NE(StateOfList("s3:b", {"2024-01-02 00:00:01\t7\tb/c", "2024-01-01 00:00:00\t5\ta"})
                ->fingerprint,
            state.fingerprint);
  EXPECT_EQ(StateOfList("s3:b", {"2024-01-02 00:00:00\t-1\tb"})->bytes, 0U) << "it is not known";
  EXPECT_THAT(std::string(StateOfList("s3:b", {}).status().message()), HasSubstr("holds no files"));
}

class RcloneProgram : public ::testing::Test {
 protected:
  // One that is a script.
  absl::StatusOr<std::uint64_t> CopyBy(const std::string& script, const std::string& rate = "") {
    const std::string path = directory_ / "rclone";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    chmod(path.c_str(), 0700);
    return CopyByRclone("s3:b/a", "/a",
                        Environment(std::vector<std::string>{"PATH=" + (directory_ / ""),
                                                             "MUSTER_STAGING_RATE=" + rate}),
                        [this](std::uint64_t done, std::uint64_t) { told_ = done; });
  }

  const TempDirectory directory_;
  std::uint64_t told_ = 0;
};

TEST_F(RcloneProgram, IsAskedToCopyAndFollowed) {
  const auto copied = CopyBy(
      "[ \"$1 $6 $7\" = 'copyto s3:b/a /a' ] || exit 9\n"
      "echo '{\"stats\":{\"bytes\":7,\"totalBytes\":7}}' >&2");
  EXPECT_EQ(copied.value_or(0), 7U) << copied.status();
  EXPECT_EQ(told_, 7U);
}

TEST_F(RcloneProgram, IsToldHowFastTheNodesNetworkLetsItBe) {
  EXPECT_TRUE(CopyBy("[ \"$5\" = --bwlimit=1048576B ] || exit 9", "1048576").ok());
}

TEST_F(RcloneProgram, ThatFailsSaysWithWhatAndOneThatIsNotThereHowToGetIt) {
  EXPECT_THAT(std::string(CopyBy("exit 3").status().message()),
              HasSubstr("\"s3:b/a\" to \"/a\": rclone ended with the exit code 3"));
  EXPECT_THAT(std::string(CopyByRclone("s3:b/a", "/a", Environment(), {}).status().message()),
              HasSubstr("not installed on this machine: have it installed"));
}

}  // namespace
}  // namespace muster::cli
