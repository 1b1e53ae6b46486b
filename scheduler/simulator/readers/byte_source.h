#pragma once

// The bytes of a file, decompressed on the way: gzip, zstd and xz by their first bytes, else plain.
//
// Memory is bounded whatever the file says of itself: an xz stream that needs more than 256 MiB and
// a zstd window above 128 MiB are refused. Errors are one line: "FILE: WHAT: MEND". Thread promise:
// a value; one thread at a time. Invariants: (1) after an error or the end nothing more is read;
// (2) a compressed file that stops in the middle is an error (DataLoss), never a short file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace muster::sim {

class ByteSource {
 public:
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  static absl::StatusOr<std::unique_ptr<ByteSource>> Open(const std::string& path);

  // Up to `size` bytes into `out`; 0 at the end.
  virtual absl::StatusOr<std::size_t> Read(char* out, std::size_t size) = 0;

  // How much of the file itself has been read, and how large it is (0 if that is not known).
  [[nodiscard]] virtual std::uint64_t consumed() const = 0;
  [[nodiscard]] virtual std::uint64_t file_size() const = 0;

 protected:
  ByteSource() = default;
};

}  // namespace muster::sim
