#include "daemon/power/power_user.h"

#include <pwd.h>
#include <unistd.h>

#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kEntryBytes = 65536;
// Of util-linux. A program between, for a copy of this process must not become anybody: it has
// threads.
constexpr const char* kSetpriv = "/usr/bin/setpriv";

}  // namespace

absl::StatusOr<std::optional<PowerUser>> FindPowerUser(const std::string& name) {
  if (name.empty()) {
    return std::nullopt;
  }
  std::vector<char> buffer(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return absl::NotFoundError(absl::StrCat(Quote(name), " is no user of this machine"));
  }
  if (found->pw_uid == geteuid()) {
    return std::nullopt;
  }
  if (geteuid() != 0) {
    return absl::PermissionDeniedError(
        absl::StrCat("a controller that does not run as root cannot run programs as ", Quote(name),
                     ": leave user out, or start it as root"));
  }
  if (access(kSetpriv, X_OK) != 0) {
    return absl::NotFoundError(absl::StrCat("programs run as another user by ", kSetpriv,
                                            ", which is not there: install util-linux"));
  }
  return PowerUser{found->pw_uid, found->pw_gid, found->pw_name, found->pw_dir};
}

void RunAs(const PowerUser& user, SpawnRequest& request) {
  std::vector<std::string> arguments = {kSetpriv,
                                        absl::StrCat("--reuid=", user.uid),
                                        absl::StrCat("--regid=", user.gid),
                                        "--init-groups",
                                        "--inh-caps=-all",
                                        "--ambient-caps=-all",
                                        "--",
                                        request.program};
  arguments.insert(arguments.end(), std::next(request.arguments.begin()), request.arguments.end());
  request.program = kSetpriv;
  request.arguments = std::move(arguments);
  for (const auto& [name, value] :
       {std::pair("HOME=", user.home), {"USER=", user.name}, {"LOGNAME=", user.name}}) {
    std::erase_if(request.environment,
                  [name = name](const std::string& one) { return one.starts_with(name); });
    request.environment.push_back(absl::StrCat(name, value));
  }
  request.working_directory = "/";
}

}  // namespace muster::daemon
