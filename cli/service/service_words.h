#pragma once

// The words of muster service: names, numbers, times and rules, checked where they are given.
//
// Pure. Invariant: InvalidArgument says in one line what is wrong with which word, and what would
// do.

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/service/service_changes.h"
#include "cli/service/service_keeper.h"
#include "cli/service/terms/service_terms.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

absl::StatusOr<std::string> ServiceName(const std::string& name);
// `where` begins the line of an error: "--replicas: ".
absl::StatusOr<std::uint32_t> ReplicaCount(const std::string& where, const std::string& text);
// Of the option, a number of replicas; `otherwise` when it is not given.
absl::StatusOr<std::uint32_t> ReplicasGiven(const Invocation& invocation, const std::string& option,
                                            std::uint32_t otherwise);
absl::StatusOr<Duration> TimeGiven(const Invocation& invocation, const std::string& option,
                                   Duration otherwise);

// --patience and --drain.
absl::StatusOr<ChangeTerms> ChangeTermsOf(const Invocation& invocation);
// --lost-after and --drain.
absl::StatusOr<KeepTerms> KeepTermsOf(const Invocation& invocation);
// Whether it names a rule, whole or not; then --min, --max, --metric, --target, --window, --settle.
bool NamesRule(const Invocation& invocation);
absl::StatusOr<ScaleRule> ScaleRuleOf(const Invocation& invocation);

}  // namespace muster::cli
