#include "daemon/access/rights/local_accounts.h"

#include <grp.h>
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

std::set<std::string> GroupNamesOf(const User& user) {
  int count = 64;
  std::vector<gid_t> ids(static_cast<std::size_t>(count));
  if (getgrouplist(user.name.c_str(), user.gid, ids.data(), &count) < 0) {
    ids.resize(static_cast<std::size_t>(count));
    if (getgrouplist(user.name.c_str(), user.gid, ids.data(), &count) < 0) {
      return {};
    }
  }
  ids.resize(static_cast<std::size_t>(count));
  std::set<std::string> names;
  std::vector<char> buffer(std::size_t{1} << 20);  // a group's members are read with it
  for (const gid_t id : ids) {
    group entry{};
    group* found = nullptr;
    if (getgrgid_r(id, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
      names.insert(found->gr_name);
    }
  }
  return names;
}

}  // namespace muster::daemon
