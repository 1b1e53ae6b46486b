#include "scheduler/model/value/file_system_use.h"

#include <algorithm>
#include <tuple>

namespace muster {

void AddFileSystems(const std::vector<FileSystemUse>& part, std::vector<FileSystemUse>& whole) {
  for (const FileSystemUse& use : part) {
    const auto known = std::find_if(whole.begin(), whole.end(), [&](const FileSystemUse& other) {
      return other.mount == use.mount;
    });
    if (known == whole.end()) {
      whole.push_back(use);
    } else {
      known->read += use.read;
      known->written += use.written;
    }
  }
  std::sort(whole.begin(), whole.end(), [](const FileSystemUse& a, const FileSystemUse& b) {
    return std::tuple(b.read + b.written, a.mount) < std::tuple(a.read + a.written, b.mount);
  });
  whole.resize(std::min(whole.size(), FileSystemUse::kMost));
}

}  // namespace muster
