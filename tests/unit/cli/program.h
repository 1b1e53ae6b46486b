#pragma once

// Runs the muster program to its end, for tests that look at what a user sees.
//
// Header-only. Thread promise: one thread at a time. Invariants: the program's environment holds
// only what the test gives and a PATH; it is waited for.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>
#include <vector>

#include "scheduler/runtime/file.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {

struct ProgramEnd {
  int code = -1;
  std::string out;
  std::string err;
};

inline ProgramEnd RunMuster(std::vector<std::string> arguments,
                            std::vector<std::string> environment = {},
                            const std::string& out_path = "") {
  const TempDirectory directory;
  const std::string out_file = out_path.empty() ? directory / "out" : out_path;
  const UniqueFd out(open(out_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const UniqueFd err(open((directory / "err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const UniqueFd in(open("/dev/null", O_RDONLY | O_CLOEXEC));
  arguments.insert(arguments.begin(), "muster");
  environment.emplace_back("PATH=/usr/bin:/bin");
  const absl::StatusOr<pid_t> pid = Spawn({.program = MUSTER_BINARY,
                                           .arguments = arguments,
                                           .environment = environment,
                                           .working_directory = directory.path(),
                                           .fds = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}},
                                           .new_session = true});
  if (!pid.ok()) {
    ADD_FAILURE() << pid.status();
    return {};
  }
  int status = 0;
  EXPECT_EQ(waitpid(*pid, &status, 0), *pid);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = out_path.empty() ? ReadFile(out_file).value() : "",
          .err = ReadFile(directory / "err").value()};
}

}  // namespace muster::cli
