#include "agent/supervisor/attempt/attempt_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

// A whole decimal number without sign; false for anything else.
template <class Number>
bool ParseNumber(std::string_view text, Number* value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && stop == end && !text.empty();
}

absl::Status Take(const std::string& claim, const ProcessIdentity& self) {
  // Written aside and linked into place: link() is as exclusive as O_EXCL, and nobody ever reads
  // half a claim.
  const std::string draft = absl::StrCat(claim, ".", self.pid);
  const std::string text =
      absl::StrCat(self.pid, " ", self.start_time_ticks, " ", self.boot_id, "\n");
  UniqueFd fd(open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid() ||
      write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", draft));
  }
  const int error = link(draft.c_str(), claim.c_str()) == 0 ? 0 : errno;
  unlink(draft.c_str());
  if (error == EEXIST) {
    return absl::AlreadyExistsError(absl::StrCat(claim, " is another's already"));
  }
  return error == 0 ? absl::OkStatus()
                    : absl::ErrnoToStatus(error, absl::StrCat("cannot make ", claim));
}

absl::StatusOr<ProcessIdentity> Read(const std::string& claim) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(claim));
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  ProcessIdentity identity;
  if (words.size() != 3 || !absl::SimpleAtoi(words[0], &identity.pid) ||
      !absl::SimpleAtoi(words[1], &identity.start_time_ticks)) {
    return absl::DataLossError(absl::StrCat(claim, ": not a claim"));
  }
  identity.boot_id = words[2];
  return identity;
}

}  // namespace

std::string AttemptDirectory::NameOf(JobId job, AttemptNumber attempt) {
  return absl::StrCat(job.value(), ".", attempt.value());
}

absl::Status AttemptDirectory::ParseName(std::string_view name, JobId* job,
                                         AttemptNumber* attempt) {
  const std::size_t dot = name.find('.');
  JobId::rep job_number = 0;
  AttemptNumber::rep attempt_number = 0;
  if (dot == std::string_view::npos || !ParseNumber(name.substr(0, dot), &job_number) ||
      !ParseNumber(name.substr(dot + 1), &attempt_number) || job_number == 0 ||
      attempt_number == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(name), "\" does not name an attempt: expected JOB.ATTEMPT"));
  }
  *job = JobId(job_number);
  *attempt = AttemptNumber(attempt_number);
  return absl::OkStatus();
}

std::string AttemptDirectory::Name() const {
  const std::size_t end = path_.find_last_not_of('/');
  const std::size_t slash = path_.rfind('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  return path_.substr(begin, end + 1 - begin);
}

absl::Status TakeClaim(const AttemptDirectory& directory, const ProcessIdentity& self) {
  return Take(directory.Claim(), self);
}

absl::StatusOr<ProcessIdentity> ReadClaim(const AttemptDirectory& directory) {
  return Read(directory.Claim());
}

absl::Status TakeEpilogClaim(const AttemptDirectory& directory, const ProcessIdentity& self) {
  return Take(directory.EpilogClaim(), self);
}

absl::StatusOr<ProcessIdentity> ReadEpilogClaim(const AttemptDirectory& directory) {
  return Read(directory.EpilogClaim());
}

absl::StatusOr<std::uint64_t> ReadAcked(const AttemptDirectory& directory) {
  const absl::StatusOr<std::string> text = ReadFile(directory.Acked());
  if (absl::IsNotFound(text.status())) {
    return 0;
  }
  RETURN_IF_ERROR(text.status());
  std::uint64_t index = 0;
  if (!absl::SimpleAtoi(*text, &index)) {
    return absl::DataLossError(absl::StrCat(directory.Acked(), ": not a number"));
  }
  return index;
}

absl::Status WriteAcked(const AttemptDirectory& directory, std::uint64_t index) {
  // Not synced: a lost number only makes the agent send again what the controller knows.
  return ReplaceFile(directory.Acked(), absl::StrCat(index, "\n"));
}

}  // namespace muster::agent
