#include "cli/images/container_check.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/request/container/image_digest.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/request/cluster_questions.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kRegistryPatience{3};
constexpr std::chrono::seconds kNamePatience{2};
constexpr std::chrono::milliseconds kNamePause{100};
// Features that agents find in themselves.
constexpr const char* kContainers = "containers";
constexpr const char* kMachinePrefix = "containers-";

bool RunsContainers(const NodeView& node) {
  return Contains(node.features, std::string(kContainers));
}

absl::Status CheckMachine(const JobRequest& request, const std::vector<std::string>& environment,
                          const std::vector<NodeView>& nodes) {
  const std::vector<std::string> machines = ContainerMachines(nodes);
  if (request.image_machine.empty() || machines.empty() ||
      Contains(machines, request.image_machine)) {
    return absl::OkStatus();
  }
  std::vector<std::string> wanted =
      ImageMachines(environment, kRegistryPatience, request.spec.container.image);
  if (wanted.empty()) {
    wanted = {request.image_machine};
  }
  const bool fits = std::any_of(wanted.begin(), wanted.end(), [&machines](const std::string& each) {
    return Contains(machines, each);
  });
  return fits ? absl::OkStatus()
              : absl::FailedPreconditionError(absl::StrCat(
                    "--container-image: image ", request.spec.container.image, ": is for ",
                    absl::StrJoin(wanted, ", "), ", and the nodes that run containers are ",
                    absl::StrJoin(machines, ", "), ": name an image for these"));
}

// What begins later may find the name free.
bool StartsNow(const JobSpec& spec) {
  return !spec.held && spec.begin == kNoTime && spec.dependency == Dependency();
}

// A run whose command has returned lets go of its name a moment later.
absl::Status CheckName(Connection& connection, const JobSpec& spec,
                       const std::vector<NodeView>& nodes) {
  if (spec.container.name.empty() || !StartsNow(spec)) {
    return absl::OkStatus();
  }
  std::vector<std::string> users;
  const auto patience = std::chrono::steady_clock::now() + kNamePatience;
  for (;;) {
    const absl::StatusOr<ImageTable> images = connection.Call(ListImages{});
    users = images.ok() ? NodesThatUse(spec.container.name, *images, nodes)
                        : std::vector<std::string>();
    if (users.empty() || std::chrono::steady_clock::now() >= patience) {
      break;
    }
    std::this_thread::sleep_for(kNamePause);
  }
  return users.empty() ? absl::OkStatus()
                       : absl::FailedPreconditionError(absl::StrCat(
                             "--container-name: the container ", spec.container.name,
                             " is in use on ", CompressHostlist(users),
                             ": use another name, or --dependency on the job that has it"));
}

}  // namespace

std::vector<std::string> ContainerMachines(const std::vector<NodeView>& nodes) {
  std::set<std::string> machines;
  for (const NodeView& node : nodes) {
    const auto machine = std::find_if(
        node.features.begin(), node.features.end(),
        [](const std::string& each) { return absl::StartsWith(each, kMachinePrefix); });
    if (RunsContainers(node) && machine == node.features.end()) {
      return {};
    }
    if (RunsContainers(node)) {
      machines.insert(machine->substr(std::string(kMachinePrefix).size()));
    }
  }
  return {machines.begin(), machines.end()};
}

std::vector<std::string> NodesThatUse(const std::string& name, const ImageTable& images,
                                      const std::vector<NodeView>& nodes) {
  std::vector<std::string> users;
  for (const NodeView& node : nodes) {
    const auto uses = [&](const NodeImage& each) {
      return each.node == node.name && each.container == name && each.in_use;
    };
    if (!RunsContainers(node)) {
      continue;
    }
    if (std::none_of(images.images.begin(), images.images.end(), uses)) {
      return {};
    }
    users.push_back(node.name);
  }
  return users;
}

absl::Status CheckContainerNodes(Connection& connection, const JobRequest& request,
                                 const std::vector<std::string>& environment) {
  const ContainerSpec& container = request.spec.container;
  if (!container.given() || (request.image_machine.empty() && container.name.empty())) {
    return absl::OkStatus();
  }
  const absl::StatusOr<NodeList> nodes = connection.Call(ListNodes{});
  if (!nodes.ok()) {
    return absl::OkStatus();  // whoever submits next is told
  }
  RETURN_IF_ERROR(CheckMachine(request, environment, nodes->nodes));
  return CheckName(connection, request.spec, nodes->nodes);
}

}  // namespace muster::cli
