#include "scheduler/simulator/flat/policy_names.h"

#include <array>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

// The names of an enumeration, in the order of its values.
constexpr std::array<const char*, 10> kOrders = {"arrival", "sjf", "wfp3", "unicep",    "f1",
                                                 "f2",      "f3",  "f4",   "fairshare", "prompt"};
constexpr std::array<const char*, 3> kBackfills = {Name(Backfill::kNone), Name(Backfill::kEasy),
                                                   Name(Backfill::kConservative)};
constexpr std::array<const char*, 2> kCandidates = {"queue", "shortest"};
constexpr std::array<const char*, 5> kEstimates = {"requested", "exact", "x2", "user-last-2",
                                                   "learned"};
constexpr std::array<const char*, 2> kInstants = {"ends-first", "submit-first"};
constexpr std::array<const char*, 2> kFilters = {"plain", "sc15"};

template <class Enum, std::size_t kCount>
absl::StatusOr<Enum> Parse(const std::string& name, const std::array<const char*, kCount>& names,
                           const char* what) {
  std::string choices;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (name == names[i]) {
      return static_cast<Enum>(i);
    }
    absl::StrAppend(&choices, choices.empty() ? "" : ", ", names[i]);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", name, "\" is not ", what, ": one of ", choices));
}

}  // namespace

absl::StatusOr<FlatPolicy> ParseFlatPolicy(const std::string& name) {
  if (name == "fcfs") {
    return FlatPolicy{.backfill = Backfill::kNone};
  }
  if (name == "easy") {
    return FlatPolicy{};
  }
  if (name == "easy-sjbf") {
    return FlatPolicy{.candidates = CandidateOrder::kShortestFirst};
  }
  if (name == "conservative") {
    return FlatPolicy{.backfill = Backfill::kConservative};
  }
  const absl::StatusOr<FlatOrder> order = Parse<FlatOrder>(name, kOrders, "a policy");
  if (!order.ok() || *order == FlatOrder::kArrival) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", name,
                     "\" is not a policy: one of fcfs, easy, easy-sjbf, conservative, sjf, wfp3, "
                     "unicep, f1, f2, f3, f4, fairshare, prompt"));
  }
  if (*order == FlatOrder::kPrompt) {
    return FlatPolicy{.order = *order};
  }
  return FlatPolicy{.order = *order, .backfill = Backfill::kNone};
}

absl::StatusOr<Backfill> ParseBackfill(const std::string& name) {
  return Parse<Backfill>(name, kBackfills, "a kind of backfilling");
}

absl::StatusOr<CandidateOrder> ParseCandidateOrder(const std::string& name) {
  return Parse<CandidateOrder>(name, kCandidates, "an order of candidates");
}

absl::StatusOr<Estimates> ParseEstimates(const std::string& name) {
  return Parse<Estimates>(name, kEstimates, "a kind of estimate");
}

absl::StatusOr<InstantOrder> ParseInstantOrder(const std::string& name) {
  return Parse<InstantOrder>(name, kInstants, "an order of an instant");
}

absl::StatusOr<RecordFilter> ParseRecordFilter(const std::string& name) {
  return Parse<RecordFilter>(name, kFilters, "a filter");
}

const char* Name(FlatOrder order) {
  return kOrders[static_cast<std::size_t>(order)];
}
const char* Name(CandidateOrder order) {
  return kCandidates[static_cast<std::size_t>(order)];
}
const char* Name(Estimates estimates) {
  return kEstimates[static_cast<std::size_t>(estimates)];
}
const char* Name(InstantOrder instant) {
  return kInstants[static_cast<std::size_t>(instant)];
}
const char* Name(RecordFilter filter) {
  return kFilters[static_cast<std::size_t>(filter)];
}

}  // namespace muster::sim
