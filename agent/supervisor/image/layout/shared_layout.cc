#include "agent/supervisor/image/layout/shared_layout.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/image/cache/cache_entry.h"
#include "agent/supervisor/image/layout/oci_layout.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/base/text/digest.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::string_view kDigestHead = "sha256:";
constexpr std::string_view kBlobHead = "blobs/sha256/";
constexpr std::size_t kFilesMax = 4096;
constexpr std::size_t kIndexBytesMax = std::size_t{4} << 20;

std::string HexOf(std::string_view digest) {
  return std::string(digest.substr(kDigestHead.size()));
}

std::string BlobPath(const std::string& directory, const std::string& digest) {
  return absl::StrCat(directory, "/blobs/sha256/", HexOf(digest));
}

bool IsBlob(std::string_view name) {
  return name.starts_with(kBlobHead) &&
         IsDigest(absl::StrCat("sha256:", std::string(name.substr(kBlobHead.size()))));
}

bool Names(const std::string& raw, const std::string& manifest) {
  const nlohmann::json index = nlohmann::json::parse(raw, nullptr, /*allow_exceptions=*/false);
  const auto manifests = index.is_object() ? index.find("manifests") : index.end();
  return index.is_object() && manifests != index.end() && manifests->is_array() &&
         std::any_of(manifests->begin(), manifests->end(), [&](const nlohmann::json& entry) {
           return entry.is_object() && entry.value("digest", nlohmann::json()) == manifest;
         });
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FilesOfLayout(const std::string& directory) {
  std::vector<std::string> names = {"oci-layout", "index.json"};
  for (const std::string& name : names) {
    if (access(absl::StrCat(directory, "/", name).c_str(), R_OK) != 0) {
      return absl::NotFoundError(absl::StrCat(directory, " holds no image layout"));
    }
  }
  for (const std::string& hex : NamesIn(directory + "/blobs/sha256")) {
    names.push_back(absl::StrCat(std::string(kBlobHead), hex));
  }
  return names;
}

absl::Status CheckLayout(const std::string& directory, const std::string& digest) {
  ASSIGN_OR_RETURN(const ImageFacts facts, ReadOciLayout(directory, ""));
  if (facts.digest == digest) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> raw = ReadFile(BlobPath(directory, digest), kIndexBytesMax);
  return raw.ok() && Names(*raw, facts.digest)
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   absl::StrCat("it is the image ", facts.digest, ", not ", digest));
}

absl::Status KeepIndex(const std::string& directory, const std::string& digest,
                       std::string_view raw) {
  Sha256 hash;
  hash.Add(raw);
  return hash.Hex() == HexOf(digest)
             ? ReplaceFile(BlobPath(directory, digest), raw)
             : absl::InvalidArgumentError(absl::StrCat("the index has not the digest ", digest));
}

absl::StatusOr<LayoutDraft> LayoutDraft::Make(std::string directory, std::uint64_t bytes_max) {
  for (const char* part : {"", "/blobs", "/blobs/sha256"}) {
    const std::string path = directory + part;
    if (mkdir(path.c_str(), 0755) != 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
    }
  }
  return LayoutDraft(std::move(directory), bytes_max);
}

absl::Status LayoutDraft::Begin(std::string_view name) {
  RETURN_IF_ERROR(End());
  const bool blob = IsBlob(name);
  if (!blob && name != "oci-layout" && name != "index.json") {
    return absl::InvalidArgumentError(
        absl::StrCat("no file of an image layout: ", Quote(std::string(name))));
  }
  if (++files_ > kFilesMax) {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", kFilesMax, " files"));
  }
  name_ = std::string(name);
  const std::string path = absl::StrCat(directory_, "/", name_);
  file_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file_.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
  }
  if (blob) {
    hash_.emplace();
  }
  return absl::OkStatus();
}

absl::Status LayoutDraft::Add(std::string_view data) {
  if (!file_.valid()) {
    return absl::InvalidArgumentError("bytes of no file");
  }
  if (data.size() > bytes_left_) {
    return absl::ResourceExhaustedError("it is larger than the cache");
  }
  bytes_left_ -= data.size();
  if (hash_.has_value()) {
    hash_->Add(data);
  }
  while (!data.empty()) {
    const ssize_t put = write(file_.get(), data.data(), data.size());
    if (put < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", directory_, "/", name_));
    }
    data.remove_prefix(put > 0 ? static_cast<std::size_t>(put) : 0);
  }
  return absl::OkStatus();
}

absl::Status LayoutDraft::End() {
  file_.reset();
  if (hash_.has_value()) {
    const std::string hex = hash_->Hex();
    hash_.reset();
    if (!absl::EndsWith(name_, hex)) {
      return absl::DataLossError(absl::StrCat(name_, " came with other bytes"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
