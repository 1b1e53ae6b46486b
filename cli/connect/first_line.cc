#include "cli/connect/first_line.h"

#include <algorithm>

namespace muster::cli {

std::string_view FirstLine::Pass(std::string_view bytes) {
  if (taken_) {
    return bytes;
  }
  const std::size_t end = bytes.find('\n');
  line_ += bytes.substr(0, end);
  if (end == std::string_view::npos && line_.size() <= kBytesMax) {
    return {};
  }
  taken_ = true;
  line_.resize(std::min(line_.size(), kBytesMax));
  take_(line_);
  return end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
}

}  // namespace muster::cli
