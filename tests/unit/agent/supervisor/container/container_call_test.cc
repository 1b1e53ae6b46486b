#include "agent/supervisor/container/container_call.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

constexpr int kPatienceMs = 10'000;

TEST(ContainerCall, TheProgramHasTheOrderAndItsAnswerComesByTheSocket) {
  const TempDirectory directory;
  const std::string program = directory / "program";
  std::ofstream(program)
      << "#!/bin/sh\nread -r order; printf '%s %s %s' \"$1\" \"$A\" \"$order\" >&3\n";
  chmod(program.c_str(), 0700);
  UniqueFd said;
  const absl::StatusOr<UniqueFd> socket = CallContainerProgram(
      {.program = program, .arguments = {"bring"}, .environment = {"A=b"}, .order = "7.1\n"},
      &said);
  ASSERT_TRUE(socket.ok()) << socket.status();
  pollfd answered = {socket->get(), POLLIN, 0};
  ASSERT_EQ(poll(&answered, 1, kPatienceMs), 1);
  EXPECT_EQ(TakeAnswer(*socket).bytes, "bring b 7.1");
  wait(nullptr);
  EXPECT_EQ(TakeAnswer(*socket).bytes, "") << "it has ended";
}

}  // namespace
}  // namespace muster::agent
