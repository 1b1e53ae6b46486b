#include "scheduler/runtime/program/program_search.h"

#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster {

std::string FindAlong(const std::string& name, const std::string& path) {
  for (const std::string& directory : std::vector<std::string>(absl::StrSplit(path, ':'))) {
    std::string file = absl::StrCat(directory, "/", name);
    struct stat info = {};
    if (!directory.empty() && directory[0] == '/' && stat(file.c_str(), &info) == 0 &&
        S_ISREG(info.st_mode) && access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return "";
}

}  // namespace muster
