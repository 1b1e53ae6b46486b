#include "agent/supervisor/user_space/output_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

std::string Text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void Write(const std::string& work_dir, const std::string& path, bool append,
           const std::string& text) {
  const absl::StatusOr<UniqueFd> fd = OpenOutput(work_dir, path, append);
  ASSERT_TRUE(fd.ok()) << fd.status();
  ASSERT_EQ(write(fd->get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(OutputPath, APathIsRelativeToTheWorkingDirectoryAndKeptWhereItIsAppendedTo) {
  const TempDirectory directory;
  Write(directory.path(), "out", false, "first ");
  Write("/", directory / "out", true, "second ");
  EXPECT_EQ(Text(directory / "out"), "first second ");
  Write(directory.path(), "out", false, "third");
  EXPECT_EQ(Text(directory / "out"), "third");
  EXPECT_FALSE(IsOnFullDisk(directory.path(), "out"));
}

TEST(OutputPath, WhatCannotBeOpenedIsOneLineThatNamesIt) {
  const TempDirectory directory;
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  for (const auto& [path, why] :
       {std::pair{"pipe", "it is a FIFO that no process reads"}, {"not/there", "No such file"}}) {
    const std::string message(OpenOutput(directory.path(), path, true).status().message());
    EXPECT_THAT(message, HasSubstr(std::string("cannot open output ") + (directory / path)));
    EXPECT_THAT(message, HasSubstr(why));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(OpenInput(directory.path(), "not-there").ok());
}

TEST(OutputPath, NoInputIsAnEmptyOne) {
  const absl::StatusOr<UniqueFd> fd = OpenInput("/", "");
  ASSERT_TRUE(fd.ok());
  std::array<char, 1> byte = {};
  EXPECT_EQ(read(fd->get(), byte.data(), byte.size()), 0);
}

}  // namespace
}  // namespace muster::agent
