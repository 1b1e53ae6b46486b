#include "agent/supervisor/attempt/journal.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "proto/convert/job.h"
#include "scheduler/base/little_endian.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::uint32_t kRecordBytesMax = 16U << 20;

// What follows `offset` in the file; empty at its end.
absl::StatusOr<std::string> ReadFrom(int fd, std::uint64_t offset, const std::string& path) {
  std::string bytes;
  std::array<char, 65536> buffer = {};
  while (true) {
    const ssize_t got =
        pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(offset + bytes.size()));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    }
    if (got == 0) {
      return bytes;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

struct Records {
  std::vector<Report> reports;
  std::uint64_t whole_bytes = 0;  // up to the torn tail
};

// The records at the head of `bytes`, the first of which has the number `index` + 1.
absl::StatusOr<Records> ParseRecords(std::string_view bytes, std::uint64_t index,
                                     const std::string& path) {
  Records records;
  while (bytes.size() - records.whole_bytes >= kNumberBytes) {
    const std::string_view rest = bytes.substr(records.whole_bytes);
    const std::size_t length = NumberAt(rest, 0);
    if (length > kRecordBytesMax) {
      return absl::DataLossError(absl::StrCat(path, ": a record of ", length, " bytes"));
    }
    if (rest.size() < kNumberBytes + length) {
      break;
    }
    wire::Report message;
    Report report;
    if (!message.ParseFromArray(rest.data() + kNumberBytes, static_cast<int>(length))) {
      return absl::DataLossError(absl::StrCat(path, ": record ", index + 1, " is not a report"));
    }
    RETURN_IF_ERROR(FromWire(message, &report));
    if (report.index != ++index) {
      return absl::DataLossError(
          absl::StrCat(path, ": record ", index, " has the number ", report.index));
    }
    records.reports.push_back(std::move(report));
    records.whole_bytes += kNumberBytes + length;
  }
  return records;
}

}  // namespace

absl::StatusOr<std::vector<Report>> AttemptJournalReader::ReadNew() {
  UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ENOENT) {
      return std::vector<Report>();
    }
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path_));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFrom(fd.get(), offset_, path_));
  ASSIGN_OR_RETURN(Records records, ParseRecords(bytes, index_, path_));
  offset_ += records.whole_bytes;
  index_ += records.reports.size();
  return std::move(records.reports);
}

bool EndsFrozen(const std::string& path) {
  const absl::StatusOr<std::vector<Report>> reports = AttemptJournalReader(path).ReadNew();
  bool frozen = false;
  for (const Report& report : reports.ok() ? *reports : std::vector<Report>()) {
    if (const auto* suspended = std::get_if<RunSuspended>(&report.fact)) {
      frozen = !suspended->resumed;
    } else if (std::holds_alternative<RunEnded>(report.fact)) {
      frozen = false;
    }
  }
  return frozen;
}

absl::StatusOr<JournalWriter> JournalWriter::Open(const std::string& path, JobId job,
                                                  AttemptNumber attempt) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFrom(fd.get(), 0, path));
  ASSIGN_OR_RETURN(const Records records, ParseRecords(bytes, 0, path));
  if (records.whole_bytes < bytes.size() &&
      ftruncate(fd.get(), static_cast<off_t>(records.whole_bytes)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot cut the torn tail of ", path));
  }
  return JournalWriter(std::move(fd), job, attempt, records.whole_bytes, records.reports.size());
}

absl::Status JournalWriter::Append(const Fact& fact) {
  wire::Report message;
  ToWire(Report{.job = job_, .attempt = attempt_, .index = index_ + 1, .fact = fact}, &message);
  const std::string body = message.SerializeAsString();
  std::string record;
  PutNumber(static_cast<std::uint32_t>(body.size()), record);
  record += body;
  ssize_t written = 0;
  do {
    written = write(fd_.get(), record.data(), record.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(record.size())) {
    size_ += record.size();
    ++index_;
    return absl::OkStatus();
  }
  const int error = written < 0 ? errno : ENOSPC;
  if (written > 0 && ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) {
    return absl::DataLossError("cannot take a half-written record back out of the journal");
  }
  return absl::ErrnoToStatus(error, "cannot append to the journal");
}

bool NotifyAgent(const std::string& socket, const std::string& name) {
  if (socket.empty()) {
    return false;
  }
  const absl::StatusOr<UniqueFd> fd = ConnectUnix(socket, SOCK_DGRAM | SOCK_NONBLOCK);
  // A full queue means that the agent has news to read anyway.
  return fd.ok() && send(fd->get(), name.data(), name.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                        static_cast<ssize_t>(name.size());
}

}  // namespace muster::agent
