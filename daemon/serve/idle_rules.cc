#include "daemon/serve/idle_rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::seconds kIdleLeast{30};
constexpr std::array<const char*, 3> kKeys = {"for", "gpu_below", "then"};

struct IdleWord {
  std::string_view word;
  IdleAction action;
};
constexpr std::array<IdleWord, 3> kWords = {{{"warn", IdleAction::kWarn},
                                             {"checkpoint", IdleAction::kCheckpoint},
                                             {"end", IdleAction::kEnd}}};

bool IsKey(const std::string& name) {
  return std::find(kKeys.begin(), kKeys.end(), name) != kKeys.end();
}

absl::Status ReadRule(ConfigFile& file, const std::string& table, IdleRule& rule) {
  std::string below = absl::StrCat(rule.percent, "%");
  std::string then;
  RETURN_IF_ERROR(file.ReadString(table + ".gpu_below", &below));
  RETURN_IF_ERROR(file.ReadDuration(table + ".for", &rule.hold));
  RETURN_IF_ERROR(file.ReadString(table + ".then", &then));
  if (!absl::SimpleAtoi(std::string(absl::StripSuffix(below, "%")), &rule.percent) ||
      below.back() != '%' || rule.percent < 0 || rule.percent > 100) {
    return file.ErrorAt(table + ".gpu_below", "a share such as \"5%\"; \"0%\": never");
  }
  if (rule.hold < kIdleLeast) {
    return file.ErrorAt(table + ".for", "at least 30s");
  }
  if (then.empty()) {
    return absl::OkStatus();
  }
  const auto* const word = std::find_if(kWords.begin(), kWords.end(),
                                        [&then](const IdleWord& row) { return row.word == then; });
  if (word == kWords.end()) {
    return file.ErrorAt(table + ".then", "one of warn, checkpoint and end");
  }
  rule.action = word->action;
  return absl::OkStatus();
}

}  // namespace

const IdleRule& IdleRules::Of(const std::string& partition) const {
  const auto found = partitions.find(partition);
  return found == partitions.end() ? everywhere : found->second;
}

bool IdleRules::on() const {
  return everywhere.percent > 0 ||
         std::any_of(partitions.begin(), partitions.end(),
                     [](const auto& entry) { return entry.second.percent > 0; });
}

absl::Status ReadIdleRules(ConfigFile& file, IdleRules& rules) {
  RETURN_IF_ERROR(ReadRule(file, "idle", rules.everywhere));
  for (const std::string& name : file.KeysUnder("idle")) {
    if (IsKey(name)) {
      continue;
    }
    const std::string table = absl::StrCat("idle.", name);
    if (file.KeysUnder(table).empty()) {
      continue;  // no table: RefuseUnknownKeys names it
    }
    IdleRule rule = rules.everywhere;
    RETURN_IF_ERROR(ReadRule(file, table, rule));
    rules.partitions[name] = rule;
  }
  return absl::OkStatus();
}

std::vector<IdleJob> IdleJudge::Look(const std::vector<GpuUse>& uses) {
  std::vector<IdleJob> idle;
  std::set<JobId> there;
  for (const GpuUse& use : uses) {
    const IdleRule& rule = rules_.Of(use.partition);
    if (rule.percent == 0 || use.gpus == 0 || use.busy == Duration(0)) {
      continue;
    }
    there.insert(use.job);
    Past& past = past_[use.job];
    if (past.attempt != use.attempt) {
      past = Past{use.attempt, {}};
    }
    if (past.looks.empty() || use.time - past.looks.back().first >= rule.hold / kPieces) {
      past.looks.emplace_back(use.time, use.busy);
    }
    while (past.looks.size() > 1 && use.time - past.looks[1].first >= rule.hold) {
      past.looks.pop_front();
    }
    const auto& [since, busy] = past.looks.front();
    const Duration span = use.time - since;
    const double share = span.count() == 0
                             ? 100
                             : 100.0 * static_cast<double>((use.busy - busy).count()) /
                                   (static_cast<double>(span.count()) * use.gpus);
    if (span >= rule.hold && share < static_cast<double>(rule.percent)) {
      idle.push_back(
          {use.job, rule.action,
           absl::StrFormat("its %d GPUs were busy for %.1f%% of the last %s (below %d%%)", use.gpus,
                           share, RoughText(span), rule.percent),
           since});
    }
  }
  std::erase_if(past_, [&there](const auto& entry) { return !there.contains(entry.first); });
  return idle;
}

}  // namespace muster::daemon
