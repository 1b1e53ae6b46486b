#include "agent/supervisor/user_space/file_piece.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10;
constexpr int kCharacterBytesMax = 4;

// What comes back beside the bytes.
struct PieceHead {
  std::uint64_t offset;
  std::uint64_t size;
  std::int64_t modified;
  std::uint64_t device;
  std::uint64_t inode;
  std::int64_t born;  // nanoseconds; 0: the file system does not say
  bool anew;
};

std::string FileName(const PieceHead& head) {
  return absl::StrCat(absl::Hex(head.device), "-", absl::Hex(head.inode), "-",
                      absl::Hex(static_cast<std::uint64_t>(head.born)));
}

absl::Status CannotRead(const std::string& path, int error) {
  const std::string what = absl::StrCat(path, error == ENOENT ? ": is not there: it was removed, "
                                                                "or was never written here"
                                                              : ": cannot be read");
  return error == ENOENT ? absl::NotFoundError(what) : absl::ErrnoToStatus(error, what);
}

// All that is there, up to `size` bytes.
absl::StatusOr<std::string> ReadAt(int fd, std::uint64_t offset, std::size_t size) {
  std::string data(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t more = pread(fd, data.data() + got, size - got, static_cast<off_t>(offset + got));
    if (more < 0 && errno == EINTR) {
      continue;
    }
    if (more < 0) {
      return absl::ErrnoToStatus(errno, "");
    }
    if (more == 0) {
      break;
    }
    got += static_cast<std::size_t>(more);
  }
  data.resize(got);
  return data;
}

absl::StatusOr<PieceHead> LookAtFile(const std::string& path, int fd) {
  struct statx found = {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &found) != 0) {
    return CannotRead(path, errno);
  }
  if (!S_ISREG(found.stx_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is no ordinary file: what went there is not kept"));
  }
  const auto nanoseconds = [](const statx_timestamp& time) {
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  };
  PieceHead head = {};
  head.size = found.stx_size;
  head.modified = nanoseconds(found.stx_mtime) / 1'000'000;
  head.device = (static_cast<std::uint64_t>(found.stx_dev_major) << 32) | found.stx_dev_minor;
  head.inode = found.stx_ino;
  head.born = (found.stx_mask & STATX_BTIME) != 0 ? nanoseconds(found.stx_btime) : 0;
  return head;
}

absl::StatusOr<UniqueFd> InMemory(const std::string& data) {
  UniqueFd memory(memfd_create("piece", MFD_CLOEXEC));
  std::size_t written = 0;
  while (memory.valid() && written < data.size()) {
    const ssize_t more = write(memory.get(), data.data() + written, data.size() - written);
    if (more < 0 && errno != EINTR) {
      break;
    }
    written += static_cast<std::size_t>(std::max<ssize_t>(more, 0));
  }
  if (!memory.valid() || written < data.size()) {
    return absl::ErrnoToStatus(errno, "cannot keep what was read in memory");
  }
  return memory;
}

// Sets where the piece begins.
absl::Status Begin(const PieceWanted& wanted, int fd, PieceHead* head) {
  if (wanted.tail > 0) {
    ASSIGN_OR_RETURN(head->offset, TailStart(fd, head->size, wanted.tail));
    return absl::OkStatus();
  }
  head->anew = (!wanted.file.empty() && wanted.file != FileName(*head)) ||
               (wanted.offset > head->size && !wanted.file.empty());
  head->offset = head->anew ? 0 : std::min(wanted.offset, head->size);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Brought> BringBytes(const std::string& bytes) {
  ASSIGN_OR_RETURN(UniqueFd memory, InMemory(bytes));
  Brought brought;
  brought.descriptors.push_back(std::move(memory));
  return brought;
}

absl::StatusOr<std::string> TakeBytes(const Brought& brought, std::size_t bytes_max) {
  if (brought.descriptors.size() != 1) {
    return absl::InternalError("what was read did not come whole");
  }
  return ReadAt(brought.descriptors.front().get(), 0, bytes_max);
}

absl::StatusOr<std::uint64_t> TailStart(int fd, std::uint64_t size, std::uint32_t lines) {
  const std::uint64_t furthest = size - std::min(size, kTailBytesMax);
  std::uint32_t left = lines;
  bool last = true;  // the byte is the file's last, which ends a line and begins none
  for (std::uint64_t end = size; end > furthest;) {
    const std::uint64_t begin = std::max(furthest, end - std::min<std::uint64_t>(end, kBlockBytes));
    ASSIGN_OR_RETURN(const std::string block, ReadAt(fd, begin, end - begin));
    for (std::size_t at = block.size(); at > 0; --at) {
      if (block[at - 1] == '\n' && !last && --left == 0) {
        return begin + at;
      }
      last = false;
    }
    end = begin;
  }
  std::uint64_t start = furthest;
  if (furthest > 0) {
    ASSIGN_OR_RETURN(const std::string first, ReadAt(fd, furthest, kCharacterBytesMax));
    const auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    start += static_cast<std::uint64_t>(std::find_if_not(first.begin(), first.end(), inside) -
                                        first.begin());
  }
  return start;
}

absl::StatusOr<Brought> BringPiece(const PieceWanted& wanted) {
  const UniqueFd fd(open(wanted.path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid()) {
    return CannotRead(wanted.path, errno);
  }
  ASSIGN_OR_RETURN(PieceHead head, LookAtFile(wanted.path, fd.get()));
  const absl::Status begun = Begin(wanted, fd.get(), &head);
  const std::size_t limit =
      wanted.limit == 0 ? kPieceBytesMax : std::min<std::size_t>(wanted.limit, kPieceBytesMax);
  const absl::StatusOr<std::string> data =
      begun.ok() ? ReadAt(fd.get(), head.offset, limit) : absl::StatusOr<std::string>(begun);
  if (!data.ok()) {
    return absl::Status(data.status().code(), absl::StrCat(wanted.path, ": cannot be read",
                                                           std::string(data.status().message())));
  }
  head.size = std::max(head.size, head.offset + data->size());
  ASSIGN_OR_RETURN(Brought brought, BringBytes(*data));
  brought.text = BringValue(head).text;
  return brought;
}

absl::StatusOr<FilePiece> TakePiece(const Brought& brought) {
  const std::optional<PieceHead> head = ValueIn<PieceHead>(brought);
  FilePiece piece;
  ASSIGN_OR_RETURN(piece.data, TakeBytes(brought, kPieceBytesMax));
  if (!head.has_value()) {
    return absl::InternalError("what was read did not come whole");
  }
  piece.offset = head->offset;
  piece.size = head->size;
  piece.file = FileName(*head);
  piece.anew = head->anew;
  piece.modified = head->modified;
  return piece;
}

}  // namespace muster::agent
