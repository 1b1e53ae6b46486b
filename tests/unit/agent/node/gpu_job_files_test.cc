#include "agent/node/gpu_job_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

TEST(GpuJobFilesTest, AFileAGpuHasTheJobsThatHaveIt) {
  const TempDirectory directory;
  Machine machine;
  for (const std::uint32_t index : {4U, 7U}) {
    machine.gpus.emplace_back().os_index = index;
  }
  std::ofstream(directory / "7") << "99\n";  // of an agent before this one
  std::ofstream(directory / "else") << "kept\n";
  NodeAllocation whole;
  whole.gpus = {{.gpu = 0}};
  GpuJobFiles files(directory.path(), machine);
  std::map<AttemptKey, RunningAttempt> running = {{{JobId(12), AttemptNumber(1)}, {&whole}},
                                                  {{JobId(13), AttemptNumber(2)}, {&whole}}};
  files.Write(running);
  EXPECT_EQ(ReadFile(directory / "4").value(), "12\n13\n");
  EXPECT_FALSE(std::filesystem::exists(directory / "7"));
  running.erase(AttemptKey{JobId(12), AttemptNumber(1)});
  files.Write(running);
  EXPECT_EQ(ReadFile(directory / "4").value(), "13\n");
  files.Write({});
  EXPECT_FALSE(std::filesystem::exists(directory / "4"));
  EXPECT_TRUE(std::filesystem::exists(directory / "else"));
  GpuJobFiles("", machine).Write(running);
}

}  // namespace
}  // namespace muster::agent
