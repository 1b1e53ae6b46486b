#include "scheduler/model/job/container.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/digest.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/model/value/job_text.h"

namespace muster {
namespace {

constexpr std::size_t kImageBytesMax = 4096;
constexpr std::size_t kMountsMax = 256;
constexpr std::size_t kEnvMax = 1024;
constexpr std::size_t kContainerNameBytesMax = 64;

struct Scheme {
  const char* text;
  ImageKind kind;
};
constexpr Scheme kSchemes[] = {{"docker://", ImageKind::kRegistry},
                               {"oci:", ImageKind::kOciLayout},
                               {"docker-archive:", ImageKind::kDockerArchive},
                               {"bundle:", ImageKind::kBundle}};

const Scheme* SchemeOf(const std::string& image) {
  const auto* const found =
      std::find_if(std::begin(kSchemes), std::end(kSchemes),
                   [&image](const Scheme& each) { return absl::StartsWith(image, each.text); });
  return found == std::end(kSchemes) ? nullptr : found;
}

std::string WithoutScheme(const std::string& image) {
  const Scheme* const scheme = SchemeOf(image);
  return scheme == nullptr ? image : image.substr(std::string(scheme->text).size());
}

// Where the tag of an OCI layout begins, after the last ":" behind the last "/"; npos: it has none.
std::size_t TagAt(const std::string& path) {
  const std::size_t colon = path.rfind(':');
  const std::size_t slash = path.rfind('/');
  return colon == std::string::npos || (slash != std::string::npos && slash > colon)
             ? std::string::npos
             : colon;
}

bool IsLower(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}
bool IsWordChar(char c) {
  return IsLower(c) || (c >= 'A' && c <= 'Z');
}
bool AllOf(const std::string& text, std::string_view others, bool (*is)(char)) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [others, is](char c) {
    return is(c) || others.find(c) != std::string_view::npos;
  });
}

// What stands between slashes in the name of an image.
bool IsNamePart(const std::string& text) {
  return AllOf(text, "._-", IsLower) && IsLower(text.front()) && IsLower(text.back());
}

// [HOST[:PORT]/]NAME[:TAG][@sha256:…], as registries have it.
bool IsReference(std::string text) {
  constexpr std::size_t kTagBytesMax = 128;
  if (const std::size_t at = text.find('@'); at != std::string::npos) {
    if (!IsDigest(text.substr(at + 1))) {
      return false;
    }
    text.resize(at);
  }
  if (const std::size_t colon = TagAt(text); colon != std::string::npos) {
    const std::string tag = text.substr(colon + 1);
    if (tag.size() > kTagBytesMax || !AllOf(tag, "._-", IsWordChar) ||
        (tag.front() != '_' && !IsWordChar(tag.front()))) {
      return false;
    }
    text.resize(colon);
  }
  std::vector<std::string> parts = absl::StrSplit(text, '/');
  const std::string first = parts.front();
  if (parts.size() > 1 &&
      (first == "localhost" || first.find_first_of(".:") != std::string::npos)) {
    if (!AllOf(first, ".:-", IsWordChar)) {
      return false;
    }
    parts.erase(parts.begin());
  }
  return std::all_of(parts.begin(), parts.end(), IsNamePart);
}

// Options whose value the container's file system is described with.
absl::Status CheckAbsolute(const char* option, const std::string& path) {
  RETURN_IF_ERROR(CheckJobText(option, path, kImageBytesMax));
  return absl::StartsWith(path, "/")
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(option, ": ", Quote(path),
                                                       " does not begin with /: write the whole "
                                                       "path"));
}

absl::Status CheckImage(const std::string& image) {
  constexpr const char* kOption = "--container-image";
  RETURN_IF_ERROR(CheckJobText(kOption, image, kImageBytesMax));
  const std::string path = ImagePath(image);
  if (KindOf(image) != ImageKind::kRegistry) {
    return CheckAbsolute(kOption, path);
  }
  return IsReference(path) ? absl::OkStatus()
                           : absl::InvalidArgumentError(absl::StrCat(
                                 kOption, ": ", Quote(image),
                                 " is no image: use NAME[:TAG] with a name in lower case, "
                                 "NAME@sha256:… with 64 digits, FILE.sqsh, oci:DIR[:TAG] or "
                                 "docker-archive:FILE"));
}

absl::Status CheckMounts(const std::vector<ContainerMount>& mounts) {
  constexpr const char* kOption = "--container-mounts";
  if (mounts.size() > kMountsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(kOption, ": ", mounts.size(), " mounts; at most ", kMountsMax));
  }
  for (const ContainerMount& mount : mounts) {
    RETURN_IF_ERROR(CheckAbsolute(kOption, mount.source));
    RETURN_IF_ERROR(CheckAbsolute(kOption, mount.destination));
    if (mount.destination == "/" || absl::StrContains(mount.destination, "/../") ||
        absl::EndsWith(mount.destination, "/..")) {
      return absl::InvalidArgumentError(absl::StrCat(kOption, ": ", Quote(mount.destination),
                                                     " is no place for a mount: name one below /"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const ContainerSpec& container) {
  if (!container.name.empty() && !IsPlainName(container.name, kContainerNameBytesMax)) {
    return absl::InvalidArgumentError(absl::StrCat("--container-name: ", Quote(container.name),
                                                   " is not 1 to ", kContainerNameBytesMax,
                                                   " of A-Z a-z 0-9 . _ -"));
  }
  if (container.env.size() > kEnvMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--container-env: more than ", kEnvMax, " names"));
  }
  for (const std::string& name : container.env) {
    RETURN_IF_ERROR(CheckJobText("--container-env", name, kImageBytesMax));
    if (name.empty() || absl::StrContains(name, '=')) {
      return absl::InvalidArgumentError(
          absl::StrCat("--container-env: ", Quote(name), " is no name of a variable: use A,B"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ImageKind KindOf(const std::string& image) {
  const Scheme* const scheme = SchemeOf(image);
  if (scheme != nullptr) {
    return scheme->kind;
  }
  return absl::EndsWith(image, ".sqsh") || absl::EndsWith(image, ".squashfs")
             ? ImageKind::kSquashfs
             : ImageKind::kRegistry;
}

std::string ImagePath(const std::string& image) {
  std::string path = WithoutScheme(image);
  const ImageKind kind = KindOf(image);
  if (kind == ImageKind::kOciLayout) {
    return path.substr(0, TagAt(path));
  }
  if (kind == ImageKind::kRegistry) {
    if (const std::size_t at = path.find('#'); at != std::string::npos) {
      path[at] = '/';
    }
  }
  return path;
}

std::string ImageTag(const std::string& image) {
  const std::string path = WithoutScheme(image);
  const std::size_t at = KindOf(image) == ImageKind::kOciLayout ? TagAt(path) : std::string::npos;
  return at == std::string::npos ? "" : path.substr(at + 1);
}

std::string WithAbsolutePath(const std::string& image, const std::string& directory) {
  const std::string path = WithoutScheme(image);
  if (KindOf(image) == ImageKind::kRegistry || path.empty() || path.front() == '/') {
    return image;
  }
  const Scheme* const scheme = SchemeOf(image);
  return absl::StrCat(scheme == nullptr ? "" : scheme->text, directory, "/", path);
}

std::uint64_t MarkOfImage(std::uint32_t uid, const std::string& image) {
  const ImageKind kind = KindOf(image);
  if (image.empty() || kind == ImageKind::kBundle) {
    return 0;
  }
  const std::size_t at = kind == ImageKind::kRegistry ? image.rfind('@') : std::string::npos;
  const std::uint64_t mark =
      Fingerprint().Add(uid).Add(at == std::string::npos ? image : image.substr(at + 1)).value();
  return std::max<std::uint64_t>(mark, 1);
}

std::string ToText(const ContainerMount& mount) {
  return absl::StrCat(mount.source, ":", mount.destination, mount.read_only ? ":ro" : "");
}

absl::Status CheckContainer(const ContainerSpec& container) {
  if (!container.given()) {
    return container == ContainerSpec()
               ? absl::OkStatus()
               : absl::InvalidArgumentError(
                     "--container-image: the other --container options have no effect without "
                     "it; name an image");
  }
  RETURN_IF_ERROR(CheckImage(container.image));
  RETURN_IF_ERROR(CheckMounts(container.mounts));
  RETURN_IF_ERROR(CheckNames(container));
  if (!container.work_dir.empty()) {
    RETURN_IF_ERROR(CheckAbsolute("--container-workdir", container.work_dir));
  }
  if (!container.save.empty()) {
    RETURN_IF_ERROR(CheckAbsolute("--container-save", container.save));
  }
  return absl::OkStatus();
}

}  // namespace muster
