#include "cli/request/container/container_paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

std::string FolderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

// Whether a node probably has the same there: every machine has a root of its own.
bool SeesFolderOf(const std::string& path) {
  const std::string folder = FolderOf(path);
  return folder != "/" && access(folder.c_str(), X_OK) == 0;
}

absl::Status CheckReadable(const std::string& option, const std::string& path,
                           const std::string& advice) {
  if (access(path.c_str(), R_OK) == 0 || (errno == ENOENT && !SeesFolderOf(path))) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno,
                             absl::StrCat(option, ": cannot read ", path, " (", advice, ")"));
}

absl::Status CheckImageFile(const std::string& image) {
  constexpr const char* kOption = "--container-image";
  const std::string path = ImagePath(image);
  switch (KindOf(image)) {
    case ImageKind::kRegistry:
      return absl::OkStatus();
    case ImageKind::kOciLayout:
      RETURN_IF_ERROR(CheckReadable(kOption, path, "name the directory of an OCI image layout"));
      return access(path.c_str(), F_OK) == 0
                 ? CheckReadable(kOption, path + "/index.json", "the directory is no OCI layout")
                 : absl::OkStatus();
    case ImageKind::kBundle:
      RETURN_IF_ERROR(CheckReadable(kOption, path, "name the directory of an OCI bundle"));
      return access(path.c_str(), F_OK) == 0
                 ? CheckReadable(kOption, path + "/config.json", "the directory is no OCI bundle")
                 : absl::OkStatus();
    case ImageKind::kSquashfs:
    case ImageKind::kDockerArchive:
      break;
  }
  return CheckReadable(kOption, path, "name a file that is there");
}

absl::Status CheckSave(const std::string& path) {
  struct stat found = {};
  return path.empty() || lstat(path.c_str(), &found) != 0
             ? absl::OkStatus()
             : absl::AlreadyExistsError(absl::StrCat("--container-save: ", path,
                                                     " exists: name another file, or remove it"));
}

}  // namespace

absl::Status CheckContainerPaths(const ContainerSpec& container) {
  if (!container.given()) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckImageFile(container.image));
  for (const ContainerMount& mount : container.mounts) {
    // One that is not here at all is often the nodes' own.
    if (access(mount.source.c_str(), R_OK) != 0 && errno == EACCES) {
      return absl::PermissionDeniedError(absl::StrCat(
          "--container-mounts: cannot read ", mount.source, ": mount what is yours to read"));
    }
  }
  return CheckSave(container.save);
}

}  // namespace muster::cli
