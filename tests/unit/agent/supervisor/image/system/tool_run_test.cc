#include "agent/supervisor/image/system/tool_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/supervisor/image/image_source.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

ToolRun Shell(const std::string& script) {
  return {
      .command = {"sh", "-c", script}, .environment = {"A=1"}, .limit = std::chrono::minutes(1)};
}

TEST(ToolRunTest, WhatItPrintsIsBrought) {
  EXPECT_EQ(*RunTool(Shell("echo $A; echo words >&2")), "1\n");
}

TEST(ToolRunTest, ItsLastWordsSayWhyItFailed) {
  EXPECT_EQ(RunTool(Shell("echo first >&2; echo 'no such tag' >&2; exit 3")).status().message(),
            "sh: no such tag");
  EXPECT_EQ(RunTool(Shell("echo 'time=\"now\" level=fatal msg=\"no \\\"tag\\\"\"' >&2; exit 1"))
                .status()
                .message(),
            "sh: no \"tag\"");
  EXPECT_EQ(RunTool(Shell("exit 3")).status().message(), "sh: exit code 3");
  EXPECT_EQ(RunTool(Shell("kill -9 $$")).status().message(), "sh: ended by signal 9");
  ToolRun run = Shell("exit 3");
  run.codes = {0, 3};
  EXPECT_TRUE(RunTool(run).ok());
}

TEST(ToolRunTest, OneThatPanicsIsQuotedWithoutItsStack) {
  const ToolRun run{
      .command = {"sh", "-c", "printf 'panic: why\\n\\ngoroutine 1\\n\\tx.go:1\\n' >&2; exit 2"},
      .environment = {},
      .limit = std::chrono::minutes(1)};
  EXPECT_EQ(RunTool(run).status().message(), "sh: panic: why");
}

TEST(ToolRunTest, OneThatIsWatchedEndsWhenTheWatchSaysSo) {
  ToolRun run = Shell("sleep 1000 & sleep 1000");
  run.watch = [] { return absl::ResourceExhaustedError("too much"); };
  EXPECT_EQ(RunTool(run).status().message(), "too much");
}

TEST(ToolRunTest, OneThatIsNotInstalledIsNamed) {
  EXPECT_THAT(std::string(FindTool("no-such-tool").status().message()),
              HasSubstr("install no-such-tool"));
}

TEST(ToolRunTest, AReferenceWithADigestHasNoTag) {
  EXPECT_EQ(WithDigest("host:5000/a/b:1.2", "sha256:ff"), "host:5000/a/b@sha256:ff");
  EXPECT_EQ(WithDigest("host:5000/a/b", "sha256:ff"), "host:5000/a/b@sha256:ff");
  EXPECT_EQ(WithDigest("a:1@sha256:00", "sha256:ff"), "a@sha256:ff");
}

}  // namespace
}  // namespace muster::agent
