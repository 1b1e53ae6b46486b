#include "daemon/serve/policy_file.h"

#include <unistd.h>

#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/serve/config.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/settings/policy_tables.h"

namespace muster::daemon {
namespace {

// What the controller holds now.
SitePolicy BookOf(Controller& controller) {
  std::promise<SitePolicy> promise;
  controller.Look([&promise](const StateView& snapshot) -> Controller::Reply {
    return [&promise, site = snapshot.state().policy().site()](const absl::Status&) {
      promise.set_value(site);
    };
  });
  return promise.get_future().get();
}

}  // namespace

absl::Status ApplyPolicyFile(const std::string& path, Controller& controller, const User& by,
                             const std::string& network, const TakeSettings& take) {
  DaemonConfig whole;
  whole.network = network;
  RETURN_IF_ERROR(ReadConfigFile(path, whole));
  RETURN_IF_ERROR(ReadNetworkOption(whole));
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  ASSIGN_OR_RETURN(std::vector<PolicyObject> objects, ReadPolicy(file));
  RETURN_IF_ERROR(CheckPolicyFile(file, BookOf(controller), objects));
  whole.policy.operator_uid = controller.policy()->operator_uid;  // not the file's to say
  std::promise<absl::Status> promise;
  controller.Configure(std::move(whole.policy), ConfigurePolicy{std::move(objects), by, path},
                       [&promise](const core::Transition&, const absl::Status& status) {
                         promise.set_value(status);
                       });
  const absl::Status taken = promise.get_future().get();
  if (!taken.ok()) {
    return absl::Status(taken.code(), absl::StrCat(path, ": ", std::string(taken.message())));
  }
  if (take != nullptr) {
    take(whole);
  }
  return absl::OkStatus();
}

namespace {

// The network of a controller that has no configuration file.
absl::Status ReloadNetwork(const std::string& network, Controller& controller) {
  DaemonConfig config;
  config.network = network;
  RETURN_IF_ERROR(ReadNetworkOption(config));
  controller.UseNetwork(std::move(config.policy.network));
  return absl::OkStatus();
}

}  // namespace

void ReloadPolicy(const std::string& path, const std::string& network, Controller& controller,
                  const Logger& log, const TakeSettings& take) {
  if (path.empty() && network.empty()) {
    log.Info("musterd", "SIGHUP: there is no configuration file to read again");
    return;
  }
  const absl::Status status =
      path.empty() ? ReloadNetwork(network, controller)
                   : ApplyPolicyFile(path, controller, UserOf(geteuid()), network, take);
  if (status.ok()) {
    log.Info(
        "musterd",
        path.empty()
            ? absl::StrCat("SIGHUP: ", network, " is in force")
            : absl::StrCat("SIGHUP: the policy, [access], [idle], [alert], [price] and [oidc] of ",
                           path, " are in force; what else it says is read at the next ", "start"));
  } else {
    log.Error("musterd", absl::StrCat("SIGHUP: ", std::string(status.message()),
                                      "; the old configuration stays in force"));
  }
}

}  // namespace muster::daemon
