#include "daemon/access/rights/access_rules.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/rights/local_accounts.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::seconds kGroupsFresh{60};
constexpr std::size_t kUsersKnownMax = 100'000;
constexpr std::size_t kNamesMost = 10'000;

constexpr std::array<std::pair<const char*, Private>, 4> kPrivateWords = {
    {{"jobs", Private::kJobs},
     {"history", Private::kHistory},
     {"usage", Private::kUsage},
     {"nodes", Private::kNodes}}};

absl::Status ReadPrivate(ConfigFile& file, std::uint8_t& hidden) {
  const std::string key = "access.private";
  std::vector<std::string> words;
  RETURN_IF_ERROR(file.ReadStrings(key, &words));
  for (const std::string& word : words) {
    const auto* const known =
        std::find_if(kPrivateWords.begin(), kPrivateWords.end(),
                     [&word](const auto& entry) { return entry.first == word; });
    if (known == kPrivateWords.end()) {
      return file.ErrorAt(
          key, absl::StrCat(word, ": can be \"jobs\", \"history\", \"usage\" and \"nodes\""));
    }
    hidden |= static_cast<std::uint8_t>(known->second);
  }
  return absl::OkStatus();
}

// Users, and groups with an '@' before them.
absl::Status ReadPeople(ConfigFile& file, const std::string& key, std::vector<std::string>& names) {
  RETURN_IF_ERROR(file.ReadStrings(key, &names));
  if (names.size() > kNamesMost) {
    return file.ErrorAt(key, absl::StrCat("names more than ", kNamesMost, "; name a group"));
  }
  for (const std::string& name : names) {
    if (name.empty() || name == "@" || name.find_first_of(" \t,:/") != std::string::npos) {
      return file.ErrorAt(key, absl::StrCat("\"", name, "\": write a user as \"ada\" and a group ",
                                            "as \"@admins\""));
    }
  }
  return absl::OkStatus();
}

bool NamesGroup(const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [](const std::string& name) { return name.front() == '@'; });
}

bool NamesGroup(const AccessSettings& settings) {
  return NamesGroup(settings.operators) || NamesGroup(settings.viewers) ||
         std::any_of(settings.coordinators.begin(), settings.coordinators.end(),
                     [](const auto& account) { return NamesGroup(account.second); });
}

Powers Judge(const AccessSettings& settings, const User& user,
             const std::set<std::string>& groups) {
  const auto among = [&](const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return name.front() == '@' ? groups.contains(name.substr(1)) : name == user.name;
    });
  };
  Powers powers;
  powers.operates = among(settings.operators);
  powers.hidden = powers.operates || among(settings.viewers) ? 0 : settings.hidden;
  for (const auto& [account, names] : settings.coordinators) {
    if (among(names)) {
      powers.coordinates.push_back(account);
    }
  }
  return powers;
}

}  // namespace

absl::Status ReadAccess(ConfigFile& file, AccessSettings& settings) {
  RETURN_IF_ERROR(ReadPrivate(file, settings.hidden));
  RETURN_IF_ERROR(ReadPeople(file, "access.operators", settings.operators));
  RETURN_IF_ERROR(ReadPeople(file, "access.viewers", settings.viewers));
  const std::string table = "access.coordinators";
  if (file.Has(table) && file.KeysUnder(table).empty()) {
    return file.ErrorAt(table,
                        "is a table: write [access.coordinators], and below it account = "
                        "[\"user\", \"@group\"]");
  }
  for (const std::string& account : file.KeysUnder(table)) {
    RETURN_IF_ERROR(
        ReadPeople(file, absl::StrCat(table, ".", account), settings.coordinators[account]));
  }
  return absl::OkStatus();
}

AccessRules::AccessRules(const Clock& clock, AccessSettings settings, GroupsOf groups)
    : clock_(clock),
      groups_(groups != nullptr ? std::move(groups) : GroupsOf(GroupNamesOf)),
      settings_(std::make_shared<const AccessSettings>(std::move(settings))) {}

void AccessRules::Use(AccessSettings settings) {
  const MutexLock lock(&mutex_);
  settings_ = std::make_shared<const AccessSettings>(std::move(settings));
  known_.clear();
}

Powers AccessRules::Of(const User& user) const {
  const SteadyTime now = clock_.SteadyNow();
  std::shared_ptr<const AccessSettings> settings;
  {
    const MutexLock lock(&mutex_);
    const auto known = known_.find(user.uid);
    if (known != known_.end() && now - known->second.since < kGroupsFresh) {
      return known->second.powers;
    }
    settings = settings_;
  }
  Powers powers =
      Judge(*settings, user, NamesGroup(*settings) ? groups_(user) : std::set<std::string>());
  const MutexLock lock(&mutex_);
  if (settings == settings_) {
    if (known_.size() >= kUsersKnownMax) {
      known_.clear();
    }
    known_[user.uid] = Known{powers, now};
  }
  return powers;
}

}  // namespace muster::daemon
