#include "scheduler/model/value/job_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster {

bool HasControl(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

absl::Status CheckJobText(const char* option, const std::string& text, std::size_t bytes_max) {
  if (text.size() > bytes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": ", text.size(), " bytes; at most ", bytes_max, " are allowed"));
  }
  if (HasControl(text)) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": holds a control character; use printable text"));
  }
  return absl::OkStatus();
}

}  // namespace muster
