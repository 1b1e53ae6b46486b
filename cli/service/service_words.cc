#include "cli/service/service_words.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kMetricBytesMax = 64;
constexpr std::uint64_t kReplicasMost = 1'000;
constexpr std::array kRuleOptions = {"min", "max", "metric", "target", "window", "settle"};

// As muster report takes names.
bool IsMetric(const std::string& name) {
  return !name.empty() && name.size() <= kMetricBytesMax &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsNameCharacter(c) || c == '/'; });
}

}  // namespace

absl::StatusOr<std::string> ServiceName(const std::string& name) {
  if (!IsPlainName(name, kNameBytesMax)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(name), " is no name of a service: use up to ", kNameBytesMax,
                     " letters, digits, \".\", \"_\" and \"-\""));
  }
  return name;
}

absl::StatusOr<std::uint32_t> ReplicaCount(const std::string& where, const std::string& text) {
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text, kReplicasMost);
  if (!count.ok() || *count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, Quote(text), " is no number of replicas: use 1 to ", kReplicasMost));
  }
  return static_cast<std::uint32_t>(*count);
}

absl::StatusOr<std::uint32_t> ReplicasGiven(const Invocation& invocation, const std::string& option,
                                            std::uint32_t otherwise) {
  return invocation.Has(option)
             ? ReplicaCount(absl::StrCat("--", option, ": "), invocation.Value(option))
             : otherwise;
}

absl::StatusOr<Duration> TimeGiven(const Invocation& invocation, const std::string& option,
                                   Duration otherwise) {
  if (!invocation.Has(option)) {
    return otherwise;
  }
  const auto time = ParseUnits(invocation.Value(option));
  if (!time.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--", option, ": ",
                                                   Quote(invocation.Value(option)),
                                                   " is no time: use one like 30s or 5m"));
  }
  return *time;
}

absl::StatusOr<ChangeTerms> ChangeTermsOf(const Invocation& invocation) {
  ChangeTerms terms;
  ASSIGN_OR_RETURN(terms.patience, TimeGiven(invocation, "patience", terms.patience));
  ASSIGN_OR_RETURN(terms.drain, TimeGiven(invocation, "drain", terms.drain));
  return terms;
}

absl::StatusOr<KeepTerms> KeepTermsOf(const Invocation& invocation) {
  KeepTerms terms;
  ASSIGN_OR_RETURN(terms.lost_after, TimeGiven(invocation, "lost-after", terms.lost_after));
  ASSIGN_OR_RETURN(terms.drain, TimeGiven(invocation, "drain", terms.drain));
  return terms;
}

bool NamesRule(const Invocation& invocation) {
  return std::any_of(kRuleOptions.begin(), kRuleOptions.end(),
                     [&invocation](const char* option) { return invocation.Has(option); });
}

absl::StatusOr<ScaleRule> ScaleRuleOf(const Invocation& invocation) {
  for (const char* option : {"max", "metric", "target"}) {
    if (!invocation.Has(option)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", option, ": is missing: a rule is like --max 8 --metric inflight --target 10"));
    }
  }
  ScaleRule rule;
  ASSIGN_OR_RETURN(rule.least, ReplicasGiven(invocation, "min", rule.least));
  ASSIGN_OR_RETURN(rule.most, ReplicasGiven(invocation, "max", rule.most));
  if (rule.most < rule.least) {
    return absl::InvalidArgumentError(
        absl::StrCat("--max: ", rule.most, " is less than --min ", rule.least));
  }
  rule.metric = invocation.Value("metric");
  if (!IsMetric(rule.metric)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--metric: ", Quote(rule.metric),
                     " is no name that programs report: use one like inflight"));
  }
  const std::string target = invocation.Value("target");
  if (!absl::SimpleAtod(target, &rule.target) || !std::isfinite(rule.target) || rule.target <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--target: ", Quote(target), " is no number above 0"));
  }
  ASSIGN_OR_RETURN(rule.window, TimeGiven(invocation, "window", rule.window));
  ASSIGN_OR_RETURN(rule.settle, TimeGiven(invocation, "settle", rule.settle));
  if (rule.window < std::chrono::seconds(10)) {
    return absl::InvalidArgumentError(absl::StrCat("--window: ", Quote(invocation.Value("window")),
                                                   " is too short: reports are kept by 10 s"));
  }
  return rule;
}

}  // namespace muster::cli
