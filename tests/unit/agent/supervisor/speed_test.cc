// How fast a supervisor starts its script, and how many of them a second; prints, and fails only
// on a wrong result. Label bench.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fstream>

#include "scheduler/runtime/process.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {
namespace {

using SpeedTest = AttemptFixture;

std::int64_t Nanoseconds() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * std::int64_t{1000000000} + now.tv_nsec;
}

pid_t Supervise(const std::string& directory) {
  SpawnRequest request;
  request.program = MUSTER_SUPERVISOR;
  request.arguments = {"muster-supervisor", "--dir", directory};
  return Spawn(request).value();
}

TEST_F(SpeedTest, StartsItsScriptSoon) {
  // The script's interpreter is a program that only says when it began.
  order_.launch.program.script = std::string("#!") + MUSTER_STAMP + "\n";
  order_.launch.program.stdout_path = "stamp";
  order_.launch.spec.kind = JobKind::kBatch;
  std::vector<std::int64_t> took;
  for (int i = 0; i < 200; ++i) {
    const std::string directory = state_ / (std::to_string(i + 100) + ".1");
    ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
    ASSERT_TRUE(WriteOrder(directory + "/order", order_).ok());
    const std::int64_t begin = Nanoseconds();
    const pid_t pid = Supervise(directory);
    ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
    took.push_back(std::stoll(Slurp(work_ / "stamp")) - begin);
  }
  std::sort(took.begin(), took.end());
  std::printf("spawn of the supervisor to main() of the script: median %.2f ms, p90 %.2f ms\n",
              static_cast<double>(took[100]) / 1e6, static_cast<double>(took[180]) / 1e6);
}

TEST_F(SpeedTest, RunsManySupervisorsASecond) {
  Batch("true");
  order_.launch.program.script = "#!/bin/true\n";
  constexpr int kCount = 1000;
  constexpr std::size_t kAtOnce = 4;
  for (int i = 0; i < kCount; ++i) {
    const std::string directory = state_ / (std::to_string(i + 1000) + ".1");
    ASSERT_EQ(mkdir(directory.c_str(), 0700), 0);
    ASSERT_TRUE(WriteOrder(directory + "/order", order_).ok());
  }
  const std::int64_t begin = Nanoseconds();
  std::deque<pid_t> running;
  for (int i = 0; i < kCount; ++i) {
    running.push_back(Supervise(state_ / (std::to_string(i + 1000) + ".1")));
    if (running.size() >= kAtOnce) {
      waitpid(running.front(), nullptr, 0);
      running.pop_front();
    }
  }
  for (const pid_t pid : running) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const double seconds = static_cast<double>(Nanoseconds() - begin) / 1e9;
  std::printf("%d supervisors of /bin/true, %zu at once: %.0f a second\n", kCount, kAtOnce,
              kCount / seconds);
}

}  // namespace
}  // namespace muster::agent
