#include "cli/simulate_options.h"

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/policy_names.h"

namespace muster {
namespace {

// Reads --NAME into `*value` if it was given; an error gets the option in front.
template <class T>
absl::Status ReadOption(const Invocation& invocation, const std::string& name,
                        absl::StatusOr<T> (*parse)(const std::string&), T* value) {
  if (!invocation.Has(name)) {
    return absl::OkStatus();
  }
  const absl::StatusOr<T> read = parse(invocation.Value(name));
  if (!read.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", std::string(read.status().message())));
  }
  *value = *read;
  return absl::OkStatus();
}

absl::StatusOr<std::int64_t> ParseProcessors(const std::string& text) {
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text, kProcessorsMax);
  if (!count.ok() || *count == 0) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(text),
                                                   " is not a number of processors: "
                                                   "a whole number from 1 to ",
                                                   kProcessorsMax));
  }
  return static_cast<std::int64_t>(*count);
}

absl::Status CheckCombination(const FlatPolicy& policy) {
  if (policy.backfill == Backfill::kConservative && policy.order != FlatOrder::kArrival) {
    return absl::InvalidArgumentError(
        "--backfill: conservative keeps the order of arrival: use --policy conservative, or "
        "--backfill easy");
  }
  if (policy.candidates != CandidateOrder::kQueue && policy.backfill != Backfill::kEasy) {
    return absl::InvalidArgumentError(
        "--backfill-order: only EASY has candidates: add --backfill easy, or leave it out");
  }
  return absl::OkStatus();
}

Option Make(const char* name, const char* metavar, const char* text) {
  return {.name = name, .letter = 0, .metavar = metavar, .text = text};
}

}  // namespace

std::vector<Option> SimulateOptionTable() {
  return {
      Make("trace", "FILE", "The workload: Standard Workload Format, plain, gzip, zstd or xz"),
      Make("flat", "P", "P identical processors (default: MaxProcs of the trace's header)"),
      Make("policy", "NAME",
           "fcfs, easy (default), easy-sjbf, conservative, sjf, wfp3, unicep, f1, f2, f3, f4"),
      Make("backfill", "KIND", "none, easy or conservative, instead of the policy's own"),
      Make("backfill-order", "ORDER",
           "Candidates in queue order (queue) or shortest first "
           "(shortest)"),
      Make("estimates", "KIND", "requested (default), exact, x2 or user-last-2"),
      Make("instant", "ORDER", "ends-first (default) or submit-first"),
      Make("filter", "NAME", "Which records are dropped: plain (default) or sc15"),
      Make("lenient", "", "Leave broken records out and count them"),
      Make("jobs-csv", "FILE", "Write a row for each job, with Batsim's column names"),
      Make("summary-json", "FILE", "Write what --json prints"),
      Make("audit", "", "Prove from the table of jobs alone that the schedule is legal"),
      Make("check", "FILE", "Compare the starts with another schedule, job by job (CSV or SWF)"),
      JsonOption(),
  };
}

absl::StatusOr<SimulateOptions> ReadSimulateOptions(const Invocation& invocation) {
  if (!invocation.Has("trace")) {
    return absl::InvalidArgumentError("--trace: name the workload: --trace FILE");
  }
  SimulateOptions options;
  FlatRun& run = options.run;
  run.trace = invocation.Value("trace");
  options.policy = invocation.Has("policy") ? invocation.Value("policy") : "easy";
  RETURN_IF_ERROR(ReadOption(invocation, "policy", ParseFlatPolicy, &run.policy));
  RETURN_IF_ERROR(ReadOption(invocation, "backfill", ParseBackfill, &run.policy.backfill));
  RETURN_IF_ERROR(
      ReadOption(invocation, "backfill-order", ParseCandidateOrder, &run.policy.candidates));
  RETURN_IF_ERROR(CheckCombination(run.policy));
  RETURN_IF_ERROR(ReadOption(invocation, "flat", ParseProcessors, &run.processors));
  RETURN_IF_ERROR(ReadOption(invocation, "estimates", ParseEstimates, &run.estimates));
  RETURN_IF_ERROR(ReadOption(invocation, "instant", ParseInstantOrder, &run.instant));
  RETURN_IF_ERROR(ReadOption(invocation, "filter", ParseRecordFilter, &run.filter));
  run.policy.estimates_fall_short = run.estimates == Estimates::kLastTwo;
  run.lenient = invocation.Has("lenient");
  options.jobs_csv = invocation.Value("jobs-csv");
  options.summary_json = invocation.Value("summary-json");
  options.check = invocation.Value("check");
  options.audit = invocation.Has("audit");
  options.json = invocation.Has("json");
  run.with_processors = options.audit || !options.jobs_csv.empty();
  return options;
}

}  // namespace muster
