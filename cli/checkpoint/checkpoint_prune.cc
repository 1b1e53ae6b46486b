// The command that removes: `muster checkpoint prune`.

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/advice/retention.h"
#include "cli/checkpoint/checkpoint_directory.h"
#include "cli/checkpoint/kept_generations.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/parse/number.h"
#include "cli/parse/request/resources.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::Status Named(const char* option, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", std::string(status.message())));
}

// What prune is to leave.
absl::StatusOr<checkpoint::Retention> RetentionOf(const Invocation& invocation) {
  checkpoint::Retention retention;
  if (invocation.Has("keep")) {
    const absl::StatusOr<std::uint32_t> count = ParseCount(invocation.Value("keep"));
    if (!count.ok()) {
      return Named("--keep", count.status());
    }
    retention.keep = *count;
  }
  if (invocation.Has("milestone")) {
    const absl::StatusOr<std::uint32_t> step = ParseCount(invocation.Value("milestone"));
    if (!step.ok()) {
      return Named("--milestone", step.status());
    }
    retention.milestone = *step;
  }
  if (invocation.Has("max-age")) {
    const absl::StatusOr<Duration> age = ParseDuration(invocation.Value("max-age"));
    if (!age.ok()) {
      return Named("--max-age", age.status());
    }
    if (*age <= Duration(0)) {
      return absl::InvalidArgumentError("--max-age: use more than 0");
    }
    retention.age_s = std::chrono::duration<double>(*age).count();
  }
  if (invocation.Has("max-size")) {
    const absl::StatusOr<Bytes> size = ParseMemory(invocation.Value("max-size"));
    if (!size.ok()) {
      return Named("--max-size", size.status());
    }
    retention.bytes = size->value();
  }
  return retention;
}

}  // namespace

absl::StatusOr<int> CheckpointPrune(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const checkpoint::Retention retention, RetentionOf(invocation));
  std::uint64_t quota = 0;
  if (invocation.Has("quota")) {
    const absl::StatusOr<Bytes> size = ParseMemory(invocation.Value("quota"));
    if (!size.ok()) {
      return Named("--quota", size.status());
    }
    quota = size->value();
  }
  std::vector<KeptGenerations> all;
  for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
    ASSIGN_OR_RETURN(KeptGenerations kept, HoldGenerations(invocation.arguments[i]));
    all.push_back(std::move(kept));
  }
  const std::uint64_t before = SumOf(all).count;
  for (KeptGenerations& kept : all) {
    RETURN_IF_ERROR(RetireBy(retention, kept));
  }
  if (quota > 0) {
    RETURN_IF_ERROR(RetireUntil([quota](const KeptSum& sum) { return sum.bytes <= quota; }, all));
  }
  const std::uint64_t left = SumOf(all).count;
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json")
          ? PrintJson({{"removed", before - left}, {"kept", left}})
          : absl::StrCat("removed ", Counted(before - left, "generation"), ", kept ", left, "\n")));
  if (quota > 0 && SumOf(all).bytes > quota) {
    return absl::FailedPreconditionError(absl::StrCat("--quota: the newest generations alone take ",
                                                      BytesText(SumOf(all).bytes), ", more than ",
                                                      BytesText(quota)));
  }
  return 0;
}

}  // namespace muster::cli
