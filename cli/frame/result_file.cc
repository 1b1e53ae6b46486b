#include "cli/frame/result_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

absl::Status SystemError(const std::string& path, int error) {
  char text[128] = {};
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": cannot be written: ", strerror_r(error, text, sizeof(text)),
                   ": make room or name another file"));
}

bool IsSpecial(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ResultFile>> ResultFile::Create(const std::string& path) {
  const std::string written = IsSpecial(path) ? path : absl::StrCat(path, ".", getpid(), ".tmp");
  std::FILE* file = std::fopen(written.c_str(), "we");
  if (file == nullptr) {
    return SystemError(path, errno);
  }
  return std::unique_ptr<ResultFile>(new ResultFile(path, written, file));
}

absl::StatusOr<std::unique_ptr<ResultFile>> ResultFile::CreateTemporary(
    const std::string& directory) {
  std::string path = directory + "/muster-schedule-XXXXXX";
  const int fd = mkostemp(path.data(), O_CLOEXEC);
  std::FILE* file = fd == -1 ? nullptr : fdopen(fd, "w");
  if (file == nullptr) {
    return SystemError(path, errno);
  }
  return std::unique_ptr<ResultFile>(new ResultFile(path, path, file));
}

ResultFile::~ResultFile() {
  if (file_ != nullptr) {
    (void)std::fclose(file_);
  }
  if (!keep_ && !IsSpecial(written_)) {
    (void)unlink(written_.c_str());
  }
}

absl::Status ResultFile::Append(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    return SystemError(path_, errno);
  }
  return absl::OkStatus();
}

absl::Status ResultFile::Restart() {
  if (std::fflush(file_) != 0) {
    return SystemError(path_, errno);
  }
  if (IsSpecial(written_)) {
    return absl::OkStatus();
  }
  return ftruncate(fileno(file_), 0) == 0 && std::fseek(file_, 0, SEEK_SET) == 0
             ? absl::OkStatus()
             : SystemError(path_, errno);
}

absl::Status ResultFile::Finish() {
  std::FILE* file = file_;
  file_ = nullptr;
  if (std::fclose(file) != 0) {
    return SystemError(path_, errno);
  }
  if (written_ == path_) {
    keep_ = IsSpecial(path_);  // A temporary file goes with the object.
    return absl::OkStatus();
  }
  if (std::rename(written_.c_str(), path_.c_str()) != 0) {
    return SystemError(path_, errno);
  }
  keep_ = true;
  return absl::OkStatus();
}

absl::Status WriteResult(const std::string& path, const std::string& text) {
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(path));
  RETURN_IF_ERROR(file->Append(text));
  return file->Finish();
}

}  // namespace muster::cli
