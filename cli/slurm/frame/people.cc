#include "cli/slurm/frame/people.h"

#include <grp.h>
#include <pwd.h>

#include <vector>

#include "scheduler/base/text/words.h"

namespace muster::cli::slurm {
namespace {

constexpr std::size_t kEntryMax = std::size_t{1} << 16;
constexpr std::uint64_t kIdMax = 0xfffffffeU;

}  // namespace

std::string UserName(std::uint32_t uid) {
  std::vector<char> buffer(kEntryMax);
  passwd entry = {};
  passwd* found = nullptr;
  const bool known =
      getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  return known ? entry.pw_name : std::to_string(uid);
}

std::string RealName(const std::string& user) {
  std::vector<char> buffer(kEntryMax);
  passwd entry = {};
  passwd* found = nullptr;
  const bool known = getpwnam_r(user.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
                     found != nullptr && entry.pw_gecos != nullptr;
  const std::string all = known ? entry.pw_gecos : "";
  return all.substr(0, all.find(','));
}

std::string GroupName(std::uint32_t gid) {
  std::vector<char> buffer(kEntryMax);
  group entry = {};
  group* found = nullptr;
  const bool known =
      getgrgid_r(gid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr;
  return known ? entry.gr_name : std::to_string(gid);
}

std::optional<std::uint32_t> UserNumber(const std::string& name) {
  std::vector<char> buffer(kEntryMax);
  passwd entry = {};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return entry.pw_uid;
  }
  const absl::StatusOr<std::uint64_t> number = ParseDigits(name, kIdMax);
  return number.ok() ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
}

}  // namespace muster::cli::slurm
