#pragma once

// The field's names for policies, estimates, instants and filters, as the command line takes them.
//
// Each reader returns InvalidArgument with `"NAME" is not a …: one of …`.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/simulator/flat/flat_simulation.h"

namespace muster::sim {

// fcfs, easy, easy-sjbf, conservative, sjf, wfp3, unicep, f1, f2, f3, f4, fairshare, prompt.
absl::StatusOr<FlatPolicy> ParseFlatPolicy(const std::string& name);
// none, easy, conservative: instead of the policy's own.
absl::StatusOr<Backfill> ParseBackfill(const std::string& name);
// queue, shortest.
absl::StatusOr<CandidateOrder> ParseCandidateOrder(const std::string& name);
// requested, exact, x2, user-last-2, learned.
absl::StatusOr<Estimates> ParseEstimates(const std::string& name);
// ends-first, submit-first.
absl::StatusOr<InstantOrder> ParseInstantOrder(const std::string& name);
// plain, sc15.
absl::StatusOr<RecordFilter> ParseRecordFilter(const std::string& name);

const char* Name(FlatOrder order);  // "arrival", "sjf", …
const char* Name(CandidateOrder order);
const char* Name(Estimates estimates);
const char* Name(InstantOrder instant);
const char* Name(RecordFilter filter);

}  // namespace muster::sim
