#include "agent/supervisor/image/cache/tree_size.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/size_text.h"

namespace muster::agent {
namespace {

bool Passes(const TreeSize& size, const TreeSize& most) {
  return size.bytes > most.bytes || size.entries > most.entries;
}

}  // namespace

TreeSize SizeOf(const std::string& directory, const TreeSize& most) {
  namespace fs = std::filesystem;
  TreeSize size;
  std::error_code error;
  fs::recursive_directory_iterator each(directory, fs::directory_options::skip_permission_denied,
                                        error);
  // What goes while we look ends the walk with an error: the next look counts the rest.
  while (!error && each != fs::recursive_directory_iterator() && !Passes(size, most)) {
    struct stat found = {};
    ++size.entries;
    if (lstat(each->path().c_str(), &found) == 0 && S_ISREG(found.st_mode)) {
      size.bytes += static_cast<std::uint64_t>(found.st_size);
    }
    each.increment(error);
  }
  return size;
}

absl::Status CheckSize(const std::string& directory, const TreeSize& most) {
  const TreeSize size = SizeOf(directory, most);
  if (size.bytes > most.bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("the image unpacks to more than ",
                                                     BytesText(most.bytes),
                                                     ", the size of its user's cache here"));
  }
  return size.entries <= most.entries ? absl::OkStatus()
                                      : absl::ResourceExhaustedError(absl::StrCat(
                                            "the image has more than ", most.entries, " files"));
}

}  // namespace muster::agent
