#pragma once

// A directory of a test's own, removed with its content when the test ends.
//
// Thread promise: one test's thread.
// Invariant: path() exists and is ours while the object lives.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace muster {

class TempDirectory {
 public:
  TempDirectory() : path_(::testing::TempDir() + "muster.XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  // A path inside the directory.
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace muster
