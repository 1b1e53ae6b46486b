#pragma once

// A piece of a file that a job writes: read from a place on, or the last lines of it.
//
// In the child that is the job's user (as_user.h); the bytes come back in a file in memory, which
// no file system holds up. Invariants: (1) nothing but an ordinary file is read, and opening never
// waits for a process; (2) a piece has at most kPieceBytesMax bytes; (3) it begins where it was
// asked to, unless the file was cut or is another: then at its first byte, and the piece says so.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/user_space/as_user.h"

namespace muster::agent {

inline constexpr std::size_t kPieceBytesMax = std::size_t{256} << 10;
// So far back are lines counted.
inline constexpr std::uint64_t kTailBytesMax = std::uint64_t{64} << 20;

struct PieceWanted {
  std::string path;
  std::uint64_t offset = 0;
  std::string file = {};    // the name of the one that was read before; empty: none was
  std::uint32_t tail = 0;   // begin with that number of last lines; 0: at the offset
  std::uint32_t limit = 0;  // bytes at most; 0: kPieceBytesMax
};

struct FilePiece {
  std::string data;
  std::uint64_t offset = 0;  // where it begins
  std::uint64_t size = 0;    // of the file
  std::string file;          // its name among the files that were and will be at this path
  bool anew = false;
  std::int64_t modified = 0;  // milliseconds since 1970
};

// What the child does. The error is one line with the path.
absl::StatusOr<Brought> BringPiece(const PieceWanted& wanted);
// What it brought.
absl::StatusOr<FilePiece> TakePiece(const Brought& brought);

// Bytes of any number, which the answer of a child has no room for.
absl::StatusOr<Brought> BringBytes(const std::string& bytes);
absl::StatusOr<std::string> TakeBytes(const Brought& brought, std::size_t bytes_max);

// Where the last `lines` lines of the first `size` bytes of `fd` begin. When they are longer than
// kTailBytesMax: so far back, at the beginning of a character.
absl::StatusOr<std::uint64_t> TailStart(int fd, std::uint64_t size, std::uint32_t lines);

}  // namespace muster::agent
