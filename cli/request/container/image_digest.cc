#include "cli/request/container/image_digest.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/request/container/layout_machine.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr const char* kSkopeo = "/usr/bin/skopeo";
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;

// What it said within `patience` on both streams; no value: nothing whole.
std::optional<std::string> Listen(int fd, Duration patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::string text;
  while (text.size() < kAnswerBytesMax) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    pollfd ready = {fd, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) == 0) {
      return std::nullopt;
    }
    std::array<char, 4096> buffer = {};
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return text;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

struct Answer {
  std::string text;
  bool success = false;
};

// skopeo inspect with those words.
absl::StatusOr<Answer> Inspect(const std::vector<std::string>& words,
                               const std::vector<std::string>& environment, Duration patience) {
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request;
  request.program = kSkopeo;
  request.arguments = {kSkopeo, "inspect"};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  request.environment = environment;
  request.fds = {{nothing.get(), 0}, {theirs.get(), 1}, {theirs.get(), 2}};
  request.new_session = true;
  ASSIGN_OR_RETURN(const pid_t child, Spawn(request));
  theirs.reset();
  const std::optional<std::string> said = Listen(ours.get(), patience);
  if (!said.has_value()) {
    kill(-child, SIGKILL);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return Answer{said.value_or(""),
                said.has_value() && WIFEXITED(status) && WEXITSTATUS(status) == 0};
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
  const absl::StatusOr<Answer> answer =
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
  const absl::StatusOr<Answer> answer =
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
