#include "daemon/access/local_accounts.h"

#include <pwd.h>

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster::daemon {

User UserOf(uid_t uid) {
  User user{uid, 0, absl::StrCat(uid)};
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    user.gid = found->pw_gid;
    user.name = found->pw_name;
  }
  return user;
}

absl::StatusOr<User> UserNamed(const std::string& name) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return absl::NotFoundError("a user whom the controller's machine does not know");
  }
  return User{found->pw_uid, found->pw_gid, found->pw_name};
}

}  // namespace muster::daemon
