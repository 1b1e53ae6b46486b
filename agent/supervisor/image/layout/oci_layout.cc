#include "agent/supervisor/image/layout/oci_layout.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/base/text/digest.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kDocumentBytesMax = std::size_t{4} << 20;
constexpr const char* kNameAnnotation = "org.opencontainers.image.ref.name";

absl::StatusOr<Json> ReadDocument(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kDocumentBytesMax));
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  return document.is_object() ? absl::StatusOr<Json>(std::move(document))
                              : absl::InvalidArgumentError(path + ": is no JSON object");
}

std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> ListOf(const Json& object, const char* key) {
  std::vector<std::string> list;
  const auto found = object.find(key);
  if (found != object.end() && found->is_array()) {
    for (const Json& each : *found) {
      if (each.is_string()) {
        list.push_back(each.get<std::string>());
      }
    }
  }
  return list;
}

std::string NameOfEntry(const Json& entry) {
  const auto annotations = entry.find("annotations");
  return annotations != entry.end() && annotations->is_object()
             ? TextOf(*annotations, kNameAnnotation)
             : "";
}

// The entry of the image in the layout's index.
absl::StatusOr<Json> FindEntry(const std::string& directory, const std::string& tag) {
  ASSIGN_OR_RETURN(const Json index, ReadDocument(directory + "/index.json"));
  const auto manifests = index.find("manifests");
  if (manifests == index.end() || !manifests->is_array() || manifests->empty()) {
    return absl::NotFoundError(absl::StrCat(directory, " holds no image"));
  }
  if (tag.empty() && manifests->size() == 1) {
    return manifests->front();
  }
  const std::string wanted = tag.empty() ? "latest" : tag;
  const auto found = std::find_if(
      manifests->begin(), manifests->end(),
      [&wanted](const Json& entry) { return entry.is_object() && NameOfEntry(entry) == wanted; });
  return found != manifests->end()
             ? absl::StatusOr<Json>(*found)
             : absl::NotFoundError(absl::StrCat(directory, " holds no image ", Quote(wanted)));
}

absl::StatusOr<Json> ReadBlob(const std::string& directory, const std::string& digest) {
  if (!IsDigest(digest)) {
    return absl::InvalidArgumentError(
        absl::StrCat(directory, ": ", Quote(digest), " is no sha256 digest"));
  }
  return ReadDocument(absl::StrCat(directory, "/blobs/sha256/", std::string(DigestDigits(digest))));
}

}  // namespace

absl::StatusOr<std::string> NameInLayout(const std::string& directory, const std::string& tag) {
  ASSIGN_OR_RETURN(const Json entry, FindEntry(directory, tag));
  std::string name = NameOfEntry(entry);
  return name.empty() ? absl::StatusOr<std::string>(absl::InvalidArgumentError(
                            absl::StrCat(directory, ": its image has no name")))
                      : name;
}

absl::StatusOr<ImageFacts> ReadOciLayout(const std::string& directory, const std::string& tag) {
  ASSIGN_OR_RETURN(const Json entry, FindEntry(directory, tag));
  ImageFacts facts;
  facts.digest = TextOf(entry, "digest");
  ASSIGN_OR_RETURN(const Json manifest, ReadBlob(directory, facts.digest));
  if (manifest.contains("manifests")) {
    return absl::FailedPreconditionError(absl::StrCat(directory, ": it is an index of images"));
  }
  const auto described = manifest.find("config");
  if (described == manifest.end() || !described->is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(directory, ": its image has no configuration"));
  }
  ASSIGN_OR_RETURN(const Json image, ReadBlob(directory, TextOf(*described, "digest")));
  facts.architecture = TextOf(image, "architecture");
  const auto config = image.find("config");
  if (config != image.end() && config->is_object()) {
    facts.environment = ListOf(*config, "Env");
    facts.work_dir = TextOf(*config, "WorkingDir");
    facts.entrypoint = ListOf(*config, "Entrypoint");
  }
  return facts;
}

absl::Status CheckArchitecture(const ImageFacts& facts) {
  const std::string own = OwnArchitecture();
  return facts.architecture.empty() || facts.architecture == own
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   absl::StrCat("the image is for ", facts.architecture, "; this node is ", own));
}

}  // namespace muster::agent
