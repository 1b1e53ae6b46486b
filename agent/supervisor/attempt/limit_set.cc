#include "agent/supervisor/attempt/limit_set.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/text/words.h"

namespace muster::agent {
namespace {

bool Among(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> WhysOf(const std::vector<MissingLimit>& missing) {
  std::vector<std::string> whys;
  for (const MissingLimit& each : missing) {
    if (std::find(whys.begin(), whys.end(), each.why) == whys.end()) {
      whys.push_back(each.why);
    }
  }
  return whys;
}

// "cpuset, memory (why), devices (why)": what is missing for one reason stands together.
std::string MissingText(const std::vector<MissingLimit>& missing) {
  std::vector<std::string> parts;
  for (const std::string& why : WhysOf(missing)) {
    std::vector<std::string> names;
    for (const MissingLimit& each : missing) {
      if (each.why == why) {
        names.push_back(each.what);
      }
    }
    parts.push_back(absl::StrCat(absl::StrJoin(names, ", "), " (", why, ")"));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace

bool LimitSet::Holds(std::string_view what) const {
  const std::string with_value = absl::StrCat(std::string(what), " ");
  return std::any_of(held.begin(), held.end(), [&](const std::string& each) {
    return each == std::string(what) || absl::StartsWith(each, with_value);
  });
}

const std::vector<std::string>& LimitControllers() {
  static const auto* const controllers =
      new std::vector<std::string>{"cpuset", "memory", "pids", "io", "hugetlb"};
  return *controllers;
}

namespace {

// Most nodes have no pool of huge pages, and do without weights of disks.
bool IsMissed(const std::string& controller) {
  return controller != "io" && controller != "hugetlb";
}

}  // namespace

LimitSet LimitsBelow(const GroupControllers& controllers) {
  const std::vector<std::string> offered = SplitWords(controllers.offered);
  const std::vector<std::string> enabled = SplitWords(controllers.enabled);
  LimitSet limits;
  for (const std::string& controller : LimitControllers()) {
    if (Among(enabled, controller)) {
      limits.held.push_back(controller);
    } else if (IsMissed(controller)) {
      limits.missing.push_back({controller, Among(offered, controller) ? controllers.refusal : ""});
    }
  }
  const bool offers_any =
      std::any_of(LimitControllers().begin(), LimitControllers().end(),
                  [&](const std::string& controller) { return Among(offered, controller); });
  const std::string none =
      absl::StrCat("the control group ", controllers.group,
                   offers_any ? " does not offer it" : " offers no controllers");
  for (MissingLimit& each : limits.missing) {
    each.why = each.why.empty() ? none : each.why;
  }
  return limits;
}

LimitSet NoLimits(const std::string& why) {
  LimitSet limits;
  for (const std::string& controller : LimitControllers()) {
    if (IsMissed(controller)) {
      limits.missing.push_back({controller, why});
    }
  }
  return limits;
}

std::string ToText(const LimitSet& limits) {
  if (limits.held.empty()) {
    return absl::StrCat("not enforced (", absl::StrJoin(WhysOf(limits.missing), "; "), ")");
  }
  const std::string held = absl::StrJoin(limits.held, ", ");
  return limits.missing.empty() ? held : absl::StrCat(held, "; not ", MissingText(limits.missing));
}

}  // namespace muster::agent
