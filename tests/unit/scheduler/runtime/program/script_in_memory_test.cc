#include "scheduler/runtime/program/script_in_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "scheduler/runtime/file.h"
#include "scheduler/runtime/program/child_end.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

TEST(ScriptInMemory, ItsInterpreterGetsTheArgumentsAndNothingToRead) {
  const TempDirectory directory;
  SpawnRequest request;
  request.arguments = {"session", "one", directory / "said"};
  request.environment = {"PATH=/usr/bin:/bin"};
  const absl::StatusOr<pid_t> child =
      SpawnScript("#!/bin/sh\nread line || echo \"$1\" >\"$2\"\nexit 7\n", request);
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(WEXITSTATUS(AwaitEnd(*child)), 7);
  EXPECT_EQ(ReadFile(directory / "said").value_or(""), "one\n");
}

TEST(ScriptInMemory, AFileIsReadFromItsBegin) {
  const UniqueFd file = FileInMemory("session", "text").value();
  EXPECT_EQ(ReadFile("/proc/self/fd/" + std::to_string(file.get())).value_or(""), "text");
}

}  // namespace
}  // namespace muster
