#pragma once

// The line that comes before everything else on a stream, kept apart from it.
//
// Pure. Invariant: every byte after the line's end goes on unchanged and in order; while the line
// has not ended nothing does.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace muster::cli {

class FirstLine {
 public:
  // No longer one is a line.
  static constexpr std::size_t kBytesMax = 4096;

  // `take` gets the line without its end, once.
  explicit FirstLine(std::function<void(const std::string&)> take) : take_(std::move(take)) {}

  // What of the next bytes goes on.
  std::string_view Pass(std::string_view bytes);

 private:
  std::function<void(const std::string&)> take_;
  std::string line_;
  bool taken_ = false;
};

}  // namespace muster::cli
