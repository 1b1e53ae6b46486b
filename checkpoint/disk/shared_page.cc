#include "checkpoint/disk/shared_page.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace muster::checkpoint {

Result<void*> MapSharedPage(const OpenFile& file, const std::string& path, std::size_t bytes,
                            int protection, const std::string& kind) {
  struct stat about {};
  if (!file.ok() || fstat(file.get(), &about) != 0) {
    return {nullptr, SystemError(path, errno)};
  }
  if (!S_ISREG(about.st_mode) || about.st_size < static_cast<off_t>(bytes)) {
    return {nullptr, MakeError(Fault::kForeign, path + ": is no " + kind + " file")};
  }
  void* page = mmap(nullptr, bytes, protection, MAP_SHARED, file.get(), 0);
  if (page == MAP_FAILED) {
    return {nullptr, SystemError(path + ": mmap", errno)};
  }
  return {page, {}};
}

}  // namespace muster::checkpoint
