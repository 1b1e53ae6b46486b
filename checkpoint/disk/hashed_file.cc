#include "checkpoint/disk/hashed_file.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "checkpoint/disk/own_file.h"

namespace muster::checkpoint {
namespace {

constexpr std::uint64_t kHashedAtOnce = std::uint64_t{1} << 20;
constexpr std::uint64_t kFlushAhead = std::uint64_t{2} << 20;

// Calls `take` with the file's bytes from its beginning, piece by piece.
template <class Take>
Error ForEachPiece(Disk& disk, int fd, std::uint64_t size, const Take& take) {
  std::string piece(std::min(size, kHashedAtOnce), '\0');
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t length = std::min<std::uint64_t>(piece.size(), size - at);
    Error error = ReadFully(disk, fd, piece.data(), length, at);
    error = error.failed() ? error : take(piece.data(), length);
    if (error.failed()) {
      return error;
    }
    at += length;
  }
  return {};
}

}  // namespace

Error HashedFile::Append(const void* bytes, std::uint64_t size) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const std::uint64_t piece = std::min(size, kHashedAtOnce);
    checksum_.Add(next, piece);
    if (Error error = WriteFully(disk_, fd_, next, piece); error.failed()) {
      return error;
    }
    next += piece;
    size -= piece;
    written_ += piece;
    if (written_ - begun_ >= kFlushAhead) {
      disk_.BeginFlush(fd_, static_cast<off_t>(begun_), static_cast<off_t>(written_ - begun_));
      begun_ = written_;
    }
  }
  return {};
}

Result<std::uint64_t> HashFile(Disk& disk, int fd, std::uint64_t size) {
  Checksum checksum;
  const Error error = ForEachPiece(disk, fd, size, [&](const char* bytes, std::uint64_t length) {
    checksum.Add(bytes, length);
    return Error();
  });
  return {checksum.value(), error};
}

Error CopyInto(Disk& disk, int from, std::uint64_t size, HashedFile* to, std::uint64_t rate) {
  const auto begun = std::chrono::steady_clock::now();
  std::uint64_t copied = 0;
  return ForEachPiece(disk, from, size, [&](const char* bytes, std::uint64_t length) {
    Error error = to->Append(bytes, length);
    copied += length;
    if (rate > 0 && !error.failed()) {
      const std::chrono::duration<double> due(static_cast<double>(copied) /
                                              static_cast<double>(rate));
      std::this_thread::sleep_until(begun + due);
    }
    return error;
  });
}

}  // namespace muster::checkpoint
