#pragma once

// The lines of a byte source, numbered from 1, in bounded memory.
//
// A line longer than kLineBytesMax is reported as too long, with its beginning, and passed over
// without being kept. Thread promise: a value; one thread at a time. Invariants: a line has no '\n'
// and no trailing '\r'; what follows the last '\n' is a line if it is not empty.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/byte_source.h"

namespace muster::sim {

inline constexpr std::size_t kLineBytesMax = std::size_t{1} << 16;

struct Line {
  std::uint64_t number = 0;
  std::string_view text;  // valid until the next line is asked for
  bool too_long = false;
};

class LineReader {
 public:
  explicit LineReader(std::unique_ptr<ByteSource> source);

  // False at the end. After an error nothing more comes.
  absl::StatusOr<bool> Next(Line* line);

  [[nodiscard]] const ByteSource& source() const { return *source_; }

 private:
  absl::StatusOr<bool> NextSlowly(Line* line);
  absl::StatusOr<bool> Refill();
  absl::Status SkipToLineEnd();

  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what has not been given out
  std::size_t end_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace muster::sim
