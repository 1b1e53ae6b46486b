#include "cli/cluster/policy_words.h"

#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/policy/policy_text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kValueBytesMax = 100'000;

struct ActionName {
  const char* name;
  PolicyAction action;
};
constexpr ActionName kActions[] = {
    {"list", PolicyAction::kList},     {"show", PolicyAction::kShow},
    {"add", PolicyAction::kAdd},       {"create", PolicyAction::kAdd},
    {"set", PolicyAction::kSet},       {"modify", PolicyAction::kSet},
    {"update", PolicyAction::kSet},    {"delete", PolicyAction::kDelete},
    {"remove", PolicyAction::kDelete}, {"history", PolicyAction::kHistory}};

std::optional<PolicyAction> FindAction(const std::string& word) {
  for (const ActionName& action : kActions) {
    if (word == action.name) {
      return action.action;
    }
  }
  return std::nullopt;
}

bool Changes(PolicyAction action) {
  return action == PolicyAction::kAdd || action == PolicyAction::kSet ||
         action == PolicyAction::kDelete;
}

// "KEY=VALUE"; a time of a reservation as people write one becomes UTC.
absl::StatusOr<Assignment> ReadAssignment(PolicyKind kind, const std::string& word, Time now,
                                          absl::TimeZone zone) {
  const std::size_t equals = word.find('=');
  Assignment said{word.substr(0, equals), word.substr(equals + 1)};
  if (!said.key.empty() && (said.key.back() == '+' || said.key.back() == '-')) {
    said.value.insert(said.value.begin(), said.key.back());
    said.key.pop_back();
  }
  const absl::Status printable = CheckText(said.value, kValueBytesMax);
  if (!printable.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(said.key, ": ", std::string(printable.message())));
  }
  const std::string key = said.key == "RawUsage" ? said.key : PolicyKey(kind, said.key);
  if (key.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(said.key), " is not a key of ",
                                                   muster::Name(kind), ": there are ",
                                                   absl::StrJoin(PolicyKeys(kind), ", ")));
  }
  if ((key == "StartTime" || key == "EndTime") && !ParseMoment(said.value).ok()) {
    const absl::StatusOr<Time> moment = ParseBegin(said.value, now, zone);
    if (!moment.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(key, ": ", std::string(moment.status().message())));
    }
    said.value = MomentText(*moment);
  }
  said.key = key;
  return said;
}

// True for the word that names the user of an association.
bool IsUser(PolicyKind kind, const std::string& word) {
  return kind == PolicyKind::kAccount && absl::StartsWithIgnoreCase(word, "user=");
}

absl::Status CheckCount(const PolicyWords& words, const std::string& action) {
  if (Changes(words.action) && words.names.size() != 1) {
    return absl::InvalidArgumentError(
        words.names.empty()
            ? absl::StrCat(action, ": name one ", muster::Name(words.kind))
            : absl::StrCat(action, ": ", Quote(words.names[1]), " is not KEY=VALUE"));
  }
  if (words.action == PolicyAction::kSet && words.assignments.empty()) {
    return absl::InvalidArgumentError("set: say what to change, KEY=VALUE");
  }
  const bool takes = words.action == PolicyAction::kAdd || words.action == PolicyAction::kSet;
  if (!takes && !words.assignments.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(action, ": takes no KEY=VALUE"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PolicyWords> ParsePolicyWords(PolicyKind kind, const std::vector<std::string>& words,
                                             Time now, absl::TimeZone zone) {
  PolicyWords parsed;
  parsed.kind = kind;
  if (words.empty()) {
    return parsed;
  }
  const std::optional<PolicyAction> action = FindAction(words.front());
  if (!action.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(words.front()), " is not one of list, show, add, set, delete, history"));
  }
  parsed.action = *action;
  std::string user;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (IsUser(kind, words[i])) {
      user = words[i].substr(words[i].find('=') + 1);
      parsed.kind = PolicyKind::kAssociation;
    }
  }
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (IsUser(kind, word)) {
      continue;
    }
    if (word.find('=') == std::string::npos) {
      const absl::Status good = CheckPolicyName(word);
      if (!good.ok()) {
        return good;
      }
      parsed.names.push_back(word);
      continue;
    }
    ASSIGN_OR_RETURN(Assignment said, ReadAssignment(parsed.kind, word, now, zone));
    parsed.assignments.push_back(std::move(said));
  }
  RETURN_IF_ERROR(CheckCount(parsed, words.front()));
  if (parsed.kind == PolicyKind::kAssociation) {
    RETURN_IF_ERROR(CheckPolicyName(user));
    for (std::string& name : parsed.names) {
      name = AssociationName(name, user);
    }
  }
  return parsed;
}

}  // namespace muster::cli
