#include "cli/connect/sshd_script.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>

#include "scheduler/runtime/process.h"

namespace muster::cli {
namespace {

TEST(SshdScript, IsAScriptAndBeginsItsStreamWithTheMark) {
  const std::string script = kSshdScript;
  EXPECT_NE(script.find(std::string("echo \"") + kHostKeyMark), std::string::npos);
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"sh", "-n", "-c", script};
  const absl::StatusOr<pid_t> child = Spawn(request);
  ASSERT_TRUE(child.ok());
  int status = 0;
  while (waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace muster::cli
