#include "cli/parse/request/container.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::StatusOr<ContainerMount> ParseContainerMount(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  const bool flagged = parts.size() == 3;
  if (parts.empty() || parts.size() > 3 || parts[0].empty() ||
      (parts.size() > 1 && parts[1].empty()) || (flagged && parts[2] != "ro" && parts[2] != "rw")) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a mount: use SRC:DST, SRC:DST:ro or SRC:DST:rw"));
  }
  return ContainerMount{.source = parts[0],
                        .destination = parts.size() > 1 ? parts[1] : parts[0],
                        .read_only = flagged && parts[2] == "ro"};
}

void MakePathAbsolute(const std::string& directory, std::string* path) {
  if (!path->empty() && path->front() != '/') {
    *path = absl::StrCat(directory, "/", *path);
  }
}

}  // namespace

absl::StatusOr<std::vector<ContainerMount>> ParseContainerMounts(std::string_view text) {
  std::vector<ContainerMount> mounts;
  for (const std::string& each : std::vector<std::string>(absl::StrSplit(std::string(text), ','))) {
    ASSIGN_OR_RETURN(ContainerMount mount, ParseContainerMount(each));
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

absl::StatusOr<std::vector<std::string>> ParseVariableNames(std::string_view text) {
  std::vector<std::string> names = absl::StrSplit(std::string(text), ',');
  for (const std::string& name : names) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat(Quote(text), " is not a list of variables: use A,B"));
    }
  }
  return names;
}

void MakeAbsolute(const std::string& directory, ContainerSpec* container) {
  container->image = WithAbsolutePath(container->image, directory);
  for (ContainerMount& mount : container->mounts) {
    MakePathAbsolute(directory, &mount.source);
  }
  MakePathAbsolute(directory, &container->save);
}

}  // namespace muster::cli
