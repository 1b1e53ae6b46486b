#include "cli/request/container/layout_machine.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/text/digest.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

using LayoutJson = nlohmann::json;

constexpr std::size_t kDocumentBytesMax = std::size_t{4} << 20;
constexpr const char* kNameAnnotation = "org.opencontainers.image.ref.name";

LayoutJson ReadLayoutDocument(const std::string& path) {
  return LayoutJson::parse(ReadFile(path, kDocumentBytesMax).value_or(""), nullptr,
                           /*allow_exceptions=*/false);
}

// Throws when the description names none.
LayoutJson ReadBlob(const std::string& directory, const LayoutJson& description) {
  const std::string digest = description.at("digest").get<std::string>();
  const std::string digits(DigestDigits(digest));
  return digits.empty() ? LayoutJson()
                        : ReadLayoutDocument(absl::StrCat(directory, "/blobs/sha256/", digits));
}

std::string NameOf(const LayoutJson& entry) {
  return entry.value("annotations", LayoutJson::object()).value(kNameAnnotation, std::string());
}

}  // namespace

std::string LayoutMachine(const std::string& directory, const std::string& tag) {
  try {
    const LayoutJson index = ReadLayoutDocument(directory + "/index.json");
    const LayoutJson& entries = index.at("manifests");
    for (const LayoutJson& entry : entries) {
      const std::string name = NameOf(entry);
      if (tag.empty() ? entries.size() == 1 || name == "latest" : name == tag) {
        const LayoutJson manifest = ReadBlob(directory, entry);
        return ReadBlob(directory, manifest.at("config")).value("architecture", std::string());
      }
    }
  } catch (const LayoutJson::exception&) {
    return "";  // the node says what is wrong with it
  }
  return "";
}

}  // namespace muster::cli
