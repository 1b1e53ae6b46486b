#include "cli/request/container/image_digest.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/request/container/layout_machine.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/program_answer.h"

namespace muster::cli {
namespace {

constexpr const char* kSkopeo = "/usr/bin/skopeo";

// skopeo inspect with those words.
absl::StatusOr<ProgramAnswer> Inspect(const std::vector<std::string>& words,
                                      const std::vector<std::string>& environment,
                                      Duration patience) {
  SpawnRequest request;
  request.program = kSkopeo;
  request.arguments = {kSkopeo, "inspect"};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  request.environment = environment;
  return AnswerOf(std::move(request), AnswerStreams::kBoth, patience);
}

// Whether skopeo can be asked for it.
bool IsAskedFor(const std::string& image) {
  return KindOf(image) == ImageKind::kRegistry && access(kSkopeo, X_OK) == 0;
}

void Pin(const std::string& digest, ContainerSpec* container) {
  ContainerSpec next = *container;
  next.image = absl::StrCat(container->image, "@", digest);
  if (absl::StartsWith(digest, "sha256:") && CheckContainer(next).ok()) {
    container->image = next.image;
  }
}

}  // namespace

absl::StatusOr<std::string> PinImage(const std::vector<std::string>& environment, Duration patience,
                                     ContainerSpec* container) {
  const std::string path = ImagePath(container->image);
  if (KindOf(container->image) == ImageKind::kOciLayout) {
    return LayoutMachine(path, ImageTag(container->image));
  }
  if (!IsAskedFor(container->image) || absl::StrContains(path, '@')) {
    return std::string();
  }
  const absl::StatusOr<ProgramAnswer> answer =
      Inspect({"--no-tags", "--format", "{{.Digest}} {{.Architecture}}", "docker://" + path},
              environment, patience);
  if (!answer.ok()) {
    return std::string();  // the node asks again
  }
  if (absl::StrContains(answer->text, "manifest unknown") ||
      absl::StrContains(answer->text, "name unknown")) {
    return absl::NotFoundError(absl::StrCat("--container-image: image ", container->image,
                                            ": its registry has no such image (manifest unknown)"));
  }
  const std::string line = answer->text.substr(0, answer->text.find('\n'));
  const std::size_t blank = line.find(' ');
  if (!answer->success || blank == std::string::npos) {
    return std::string();
  }
  Pin(line.substr(0, blank), container);
  return line.substr(blank + 1);
}

std::vector<std::string> ImageMachines(const std::vector<std::string>& environment,
                                       Duration patience, const std::string& image) {
  if (!IsAskedFor(image)) {
    return {};
  }
  const absl::StatusOr<ProgramAnswer> answer =
      Inspect({"--raw", "docker://" + ImagePath(image)}, environment, patience);
  return answer.ok() && answer->success ? MachinesIn(answer->text) : std::vector<std::string>();
}

std::vector<std::string> MachinesIn(const std::string& index) {
  const nlohmann::json document = nlohmann::json::parse(index, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> machines;
  try {
    for (const nlohmann::json& each : document.at("manifests")) {
      machines.push_back(each.at("platform").at("architecture").get<std::string>());
    }
  } catch (const nlohmann::json::exception&) {
    return {};
  }
  return machines;
}

}  // namespace muster::cli
