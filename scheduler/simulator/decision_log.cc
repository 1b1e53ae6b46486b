#include "scheduler/simulator/decision_log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/model/value/value_bytes.h"

namespace muster::sim {
namespace {

constexpr const char* kMagic = "muster decisions 1\n";
constexpr std::size_t kHeaderMax = 4096;
constexpr std::uint64_t kContentMax = std::uint64_t{1} << 30U;
constexpr std::size_t kPrefix = 16;  // of a block: length and checksum
constexpr int kLevel = 3;

absl::Status ErrorOf(const std::string& path, const char* what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": ", what));
}

void AppendNumber(std::uint64_t number, std::string* bytes) {
  for (int i = 0; i < 8; ++i) {
    *bytes += static_cast<char>(number & 0xffU);
    number >>= 8U;
  }
}

std::uint64_t NumberAt(const std::string& bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

// Up to `size` bytes from there; fewer at the end of the file.
absl::StatusOr<std::string> ReadAt(int file, const std::string& path, std::uint64_t offset,
                                   std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t count =
        pread(file, bytes.data() + got, size - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return ErrorOf(path, "cannot be read");
    }
    if (count == 0) {
      break;
    }
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

absl::Status WriteAt(int file, const std::string& path, std::uint64_t offset,
                     const std::string& bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = pwrite(file, bytes.data() + written, bytes.size() - written,
                                 static_cast<off_t>(offset + written));
    if (count < 0 && errno != EINTR) {
      return ErrorOf(path, "cannot be written");
    }
    written += count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  return absl::OkStatus();
}

// The frame of the block there; "" where no whole one is.
absl::StatusOr<std::string> FrameAt(int file, const std::string& path, std::uint64_t offset) {
  ASSIGN_OR_RETURN(const std::string prefix, ReadAt(file, path, offset, kPrefix));
  if (prefix.size() < kPrefix || NumberAt(prefix, 0) > kContentMax) {
    return std::string();
  }
  ASSIGN_OR_RETURN(std::string frame, ReadAt(file, path, offset + kPrefix, NumberAt(prefix, 0)));
  const bool whole = frame.size() == NumberAt(prefix, 0) &&
                     Fingerprint().Add(frame).value() == NumberAt(prefix, 8);
  return whole ? frame : std::string();
}

absl::StatusOr<std::string> Unpacked(const std::string& frame, const std::string& path) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size > kContentMax) {
    return absl::DataLossError(absl::StrCat(path, ": a block says that it is of ", size, " bytes"));
  }
  std::string content(size, '\0');
  const std::size_t got =
      ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != content.size()) {
    return absl::DataLossError(absl::StrCat(path, ": a block cannot be unpacked"));
  }
  return content;
}

absl::StatusOr<int> OpenLocked(const std::string& path, int flags) {
  const int file = open(path.c_str(), flags | O_RDWR | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) {
    return absl::AlreadyExistsError(
        absl::StrCat(path, ": is there already: go on from it with --resume, or remove it"));
  }
  if (file < 0) {
    return ErrorOf(path, "cannot be opened");
  }
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    close(file);
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": another simulation is writing it: wait for it, or name another"));
  }
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DecisionLog>> DecisionLog::Create(const std::string& path,
                                                                 const std::string& what,
                                                                 std::size_t block_bytes) {
  ASSIGN_OR_RETURN(const int file, OpenLocked(path, O_CREAT | O_EXCL));
  std::unique_ptr<DecisionLog> log(new DecisionLog(path, file));
  log->block_bytes_ = block_bytes;
  RETURN_IF_ERROR(log->WriteHeader(what));
  return log;
}

absl::StatusOr<std::unique_ptr<DecisionLog>> DecisionLog::Resume(const std::string& path,
                                                                 const std::string& what) {
  ASSIGN_OR_RETURN(const int file, OpenLocked(path, 0));
  std::unique_ptr<DecisionLog> log(new DecisionLog(path, file));
  RETURN_IF_ERROR(log->ReadHeader(what));
  RETURN_IF_ERROR(log->DropTornBlock());
  ASSIGN_OR_RETURN(log->more_blocks_, log->ReadBlock());
  return log;
}

DecisionLog::~DecisionLog() {
  close(file_);
}

absl::Status DecisionLog::WriteHeader(const std::string& what) {
  const std::string header = absl::StrCat(kMagic, what, "\n");
  MUSTER_CHECK(header.size() <= kHeaderMax);
  first_block_ = read_ = end_ = header.size();
  return WriteAt(file_, path_, 0, header);
}

absl::Status DecisionLog::ReadHeader(const std::string& what) {
  ASSIGN_OR_RETURN(const std::string start, ReadAt(file_, path_, 0, kHeaderMax));
  const std::size_t magic = std::strlen(kMagic);
  const std::size_t end =
      start.compare(0, magic, kMagic) == 0 ? start.find('\n', magic) : std::string::npos;
  if (end == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": is no file of --checkpoint: name one that is"));
  }
  if (start.substr(magic, end - magic) != what) {
    return absl::FailedPreconditionError(absl::StrCat(
        path_, ": is of another simulation (", start.substr(magic, end - magic), "; this one is ",
        what, "): give the same trace, cluster and policy to the same muster"));
  }
  first_block_ = read_ = end_ = end + 1;
  return absl::OkStatus();
}

absl::Status DecisionLog::DropTornBlock() {
  for (;;) {
    ASSIGN_OR_RETURN(const std::string frame, FrameAt(file_, path_, end_));
    if (frame.empty()) {
      break;
    }
    end_ += kPrefix + frame.size();
  }
  return ftruncate(file_, static_cast<off_t>(end_)) == 0 ? absl::OkStatus()
                                                         : ErrorOf(path_, "cannot be cut");
}

// The next block's decisions become the known ones; false after the last block.
absl::StatusOr<bool> DecisionLog::ReadBlock() {
  known_.clear();
  next_ = 0;
  if (read_ == end_) {
    return false;
  }
  ASSIGN_OR_RETURN(const std::string frame, FrameAt(file_, path_, read_));
  ASSIGN_OR_RETURN(const std::string content, Unpacked(frame, path_));
  read_ += kPrefix + frame.size();
  ValueReader reader(content);
  reader.Get(sorted_);
  reader.Get(known_);
  reader.Get(state_);
  if (!reader.AtEnd()) {
    return absl::DataLossError(absl::StrCat(path_, ": a block is not as it was written"));
  }
  return read_ != end_;
}

absl::Status DecisionLog::Forget() {
  known_.clear();
  added_.clear();
  state_.clear();
  next_ = added_bytes_ = 0;
  more_blocks_ = false;
  used_ = 0;
  read_ = end_ = first_block_;
  return ftruncate(file_, static_cast<off_t>(end_)) == 0 ? absl::OkStatus()
                                                         : ErrorOf(path_, "cannot be cut");
}

absl::Status DecisionLog::Begin(bool sorted) {
  const bool known = knows_more() && used_ == 0 && added_.empty();
  if (!known || sorted != sorted_) {
    RETURN_IF_ERROR(Forget());
  }
  sorted_ = sorted;
  return absl::OkStatus();
}

absl::StatusOr<std::string> DecisionLog::Next() {
  MUSTER_CHECK(knows_more());
  while (next_ == known_.size()) {
    ASSIGN_OR_RETURN(more_blocks_, ReadBlock());
  }
  ++used_;
  return std::move(known_[next_++]);
}

void DecisionLog::Add(std::string decision) {
  MUSTER_CHECK(!knows_more());
  added_bytes_ += decision.size() + 1;
  added_.push_back(std::move(decision));
}

absl::Status DecisionLog::AddState(const std::string& state) {
  if (added_.empty()) {
    return absl::OkStatus();
  }
  ValueWriter content;
  content.Put(sorted_);
  content.Put(added_);
  content.Put(state);
  std::string frame(ZSTD_compressBound(content.bytes().size()), '\0');
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), content.bytes().data(),
                                         content.bytes().size(), kLevel);
  MUSTER_CHECK(ZSTD_isError(size) == 0);
  frame.resize(size);
  std::string block;
  AppendNumber(frame.size(), &block);
  AppendNumber(Fingerprint().Add(frame).value(), &block);
  block += frame;
  RETURN_IF_ERROR(WriteAt(file_, path_, end_, block));
  end_ += block.size();
  added_.clear();
  added_bytes_ = 0;
  return absl::OkStatus();
}

}  // namespace muster::sim
