#pragma once

// A file of results that is written as they come: whole under its name, or not there.
//
// Rows go to a file beside it, which takes the name when all is written; what is no regular file (a
// pipe, /dev/null) is written directly. Thread promise: a value; one thread at a time. Invariants:
// a file of that name is never half of something; a result that is abandoned leaves nothing.

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

class ResultFile {
 public:
  static absl::StatusOr<std::unique_ptr<ResultFile>> Create(const std::string& path);
  // One without a name that stays: it goes with the object.
  static absl::StatusOr<std::unique_ptr<ResultFile>> CreateTemporary(const std::string& directory);

  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();

  absl::Status Append(const std::string& text);
  // Drops what was appended.
  absl::Status Restart();
  // Gives the file its name. Nothing is appended afterwards.
  absl::Status Finish();

  // Where the content can be read once it is finished.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  ResultFile(std::string path, std::string written, std::FILE* file)
      : path_(std::move(path)), written_(std::move(written)), file_(file) {}

  std::string path_;
  std::string written_;  // the name while it is written
  std::FILE* file_;
  bool keep_ = false;
};

// `text` as the whole content of the file `path`.
absl::Status WriteResult(const std::string& path, const std::string& text);

}  // namespace muster::cli
