#include "scheduler/simulator/readers/line_reader.h"

#include <cstring>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

constexpr std::size_t kBufferBytes = 4 * kLineBytesMax;

std::string_view WithoutReturn(const char* text, std::size_t size) {
  return {text, size != 0 && text[size - 1] == '\r' ? size - 1 : size};
}

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteSource> source)
    : source_(std::move(source)), buffer_(kBufferBytes) {}

absl::StatusOr<bool> LineReader::Next(Line* line) {
  const char* text = buffer_.data() + begin_;
  const void* newline = end_ == begin_ ? nullptr : std::memchr(text, '\n', end_ - begin_);
  if (newline == nullptr) {
    return NextSlowly(line);
  }
  const auto size = static_cast<std::size_t>(static_cast<const char*>(newline) - text);
  begin_ += size + 1;
  *line = {++number_, WithoutReturn(text, size), size > kLineBytesMax};
  return true;
}

// The line is not whole in the buffer.
absl::StatusOr<bool> LineReader::NextSlowly(Line* line) {
  for (;;) {
    if (end_ - begin_ > kLineBytesMax) {
      // Its beginning moves to where the rest cannot overwrite it.
      std::memmove(buffer_.data(), buffer_.data() + begin_, kLineBytesMax);
      RETURN_IF_ERROR(SkipToLineEnd());
      *line = {++number_, {buffer_.data(), kLineBytesMax}, true};
      return true;
    }
    ASSIGN_OR_RETURN(const bool more, Refill());
    if (!more && begin_ == end_) {
      return false;
    }
    const char* text = buffer_.data() + begin_;
    const void* newline = std::memchr(text, '\n', end_ - begin_);
    if (newline != nullptr || !more) {
      const std::size_t size =
          newline == nullptr ? end_ - begin_
                             : static_cast<std::size_t>(static_cast<const char*>(newline) - text);
      begin_ += newline == nullptr ? size : size + 1;
      *line = {++number_, WithoutReturn(text, size), size > kLineBytesMax};
      return true;
    }
  }
}

// Moves what is left to the front and reads more behind it; false at the end of the source.
absl::StatusOr<bool> LineReader::Refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  ASSIGN_OR_RETURN(const std::size_t got,
                   source_->Read(buffer_.data() + end_, buffer_.size() - end_));
  end_ += got;
  return got != 0;
}

// Reads on behind the first kLineBytesMax bytes of the buffer, keeping nothing of this line.
absl::Status LineReader::SkipToLineEnd() {
  begin_ = end_;
  for (;;) {
    char* room = buffer_.data() + kLineBytesMax;
    ASSIGN_OR_RETURN(const std::size_t got, source_->Read(room, buffer_.size() - kLineBytesMax));
    if (got == 0) {
      end_ = begin_;
      return absl::OkStatus();
    }
    const void* newline = std::memchr(room, '\n', got);
    if (newline != nullptr) {
      const char* after = static_cast<const char*>(newline) + 1;
      begin_ = static_cast<std::size_t>(after - buffer_.data());
      end_ = kLineBytesMax + got;
      return absl::OkStatus();
    }
  }
}

}  // namespace muster::sim
