#include "agent/supervisor/process_title.h"

#include <algorithm>
#include <cstring>

namespace muster::agent {

ProcessTitle::ProcessTitle(int argc, char** argv) {
  if (argc == 0) {
    return;
  }
  begin_ = argv[0];
  // As far as the words lie one behind the other, as the kernel puts them.
  for (int i = 0; i < argc && argv[i] == begin_ + bytes_; ++i) {
    bytes_ += std::strlen(argv[i]) + 1;
  }
}

void ProcessTitle::Show(std::initializer_list<std::string_view> words) const {
  std::size_t at = 0;
  for (const std::string_view word : words) {
    // The last byte stays zero: else the kernel would read on behind it.
    const std::size_t room = bytes_ - at;
    const std::size_t taken = std::min(word.size(), room == 0 ? 0 : room - 1);
    std::memcpy(begin_ + at, word.data(), taken);
    at += taken;
    if (at < bytes_) {
      begin_[at++] = '\0';
    }
  }
  std::memset(begin_ + at, 0, bytes_ - at);
}

}  // namespace muster::agent
