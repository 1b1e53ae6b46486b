#include "cli/checkpoint/checkpoint_usage.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/checkpoint/checkpoint_room.h"
#include "cli/checkpoint/ledger.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/job_history.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kJobsMost = 1'000'000;

// As the environment of a job has it.
CheckpointQuota QuotaIn(const Environment& environment) {
  CheckpointQuota quota;
  std::uint64_t bytes = 0;
  if (absl::SimpleAtoi(environment.Get("MUSTER_CHECKPOINT_QUOTA"), &bytes)) {
    quota.bytes = Bytes(bytes);
  }
  (void)absl::SimpleAtoi(environment.Get("MUSTER_CHECKPOINT_QUOTA_COUNT"), &quota.count);
  return quota;
}

absl::StatusOr<std::map<std::uint64_t, JobFate>> FatesOf(const Invocation& invocation,
                                                         const std::set<std::uint64_t>& jobs) {
  std::map<std::uint64_t, JobFate> fates;
  if (jobs.empty()) {
    return fates;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ListHistory question;
  for (const std::uint64_t job : jobs) {
    question.jobs.push_back(JobId(job));
  }
  question.limit = kJobsMost;
  ASSIGN_OR_RETURN(const std::vector<JobView> views, JobsSince(*connection, question));
  for (const JobView& view : views) {
    fates[view.id.value()] = !IsTerminal(view.state)     ? JobFate::kMayGoOn
                             : view.state == "COMPLETED" ? JobFate::kCompleted
                                                         : JobFate::kEnded;
  }
  return fates;
}

Json OrNone(std::uint64_t number) {
  return number > 0 ? Json(number) : Json(nullptr);
}

std::string UsageDocument(const LedgerPage& page, const KeptSum& sum) {
  Json directories = Json::array();
  for (const LedgerEntry& each : page.entries) {
    directories.push_back({{"directory", each.directory},
                           {"cluster", each.cluster},
                           {"job", each.job},
                           {"count", each.count},
                           {"bytes", each.bytes},
                           {"refused", each.refused.empty() ? Json(nullptr) : Json(each.refused)}});
  }
  return PrintJson(
      {{"bytes", sum.bytes},
       {"count", sum.count},
       {"quota",
        {{"bytes", OrNone(page.quota.bytes.value())}, {"count", OrNone(page.quota.count)}}},
       {"directories", directories}});
}

std::string UsagePage(const LedgerPage& page, const KeptSum& sum, const Style& style) {
  Table table({{.title = "JOB", .right = true},
               {.title = "CHECKPOINTS", .right = true},
               {.title = "SIZE", .right = true},
               {.title = "DIRECTORY"},
               {.title = "REFUSED"}});
  for (const LedgerEntry& each : page.entries) {
    table.Add({{absl::StrCat(each.job)},
               {absl::StrCat(each.count)},
               {BytesText(each.bytes)},
               {each.directory},
               {each.refused, Paint::kRed}});
  }
  const CheckpointQuota& quota = page.quota;
  return absl::StrCat(
      page.entries.empty() ? "" : absl::StrCat(table.Print(style), "\n"), BytesText(sum.bytes),
      quota.bytes.zero() ? "" : absl::StrCat(" of ", BytesText(quota.bytes.value())), ", ",
      quota.count == 0 ? Counted(sum.count, "checkpoint")
                       : absl::StrCat(sum.count, " of ", Counted(quota.count, "checkpoint")),
      quota.given() ? "" : "; no quota is known here", "\n");
}

// "BYTES,COUNT".
absl::StatusOr<KeptSum> KeptIn(const Invocation& invocation) {
  const std::vector<std::string> words = absl::StrSplit(invocation.Value("kept"), ',');
  KeptSum kept;
  if (words.size() != 2 || !absl::SimpleAtoi(words[0], &kept.bytes) ||
      !absl::SimpleAtoi(words[1], &kept.count)) {
    return absl::InvalidArgumentError("admit: is for the checkpoint library; leave it out");
  }
  return kept;
}

}  // namespace

std::vector<Option> CheckpointAdmitOptions() {
  return {{.name = "bytes", .letter = 0, .metavar = "N", .text = ""},
          {.name = "kept", .letter = 0, .metavar = "WHAT", .text = ""}};
}

absl::StatusOr<int> CheckpointUsage(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::string place, LedgerPlace(invocation.environment));
  ASSIGN_OR_RETURN(LedgerPage page, ReadLedger(place));
  CountAgain("", page);
  if (const CheckpointQuota here = QuotaIn(invocation.environment); here.given()) {
    page.quota = here;
  }
  KeptSum sum;
  for (const LedgerEntry& each : page.entries) {
    sum.bytes += each.bytes;
    sum.count += each.count;
  }
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? UsageDocument(page, sum)
                   : UsagePage(page, sum, StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

absl::StatusOr<int> CheckpointAdmit(const Invocation& invocation) {
  const CheckpointQuota quota = QuotaIn(invocation.environment);
  WantedRoom wanted;
  ASSIGN_OR_RETURN(wanted.beside, KeptIn(invocation));
  if (!absl::SimpleAtoi(invocation.Value("bytes"), &wanted.bytes)) {
    return absl::InvalidArgumentError("admit: is for the checkpoint library; leave it out");
  }
  std::error_code failed;
  wanted.directory = std::filesystem::canonical(invocation.arguments[1], failed).string();
  if (failed) {
    return absl::NotFoundError(absl::StrCat(Quote(invocation.arguments[1]), ": ", failed.message(),
                                            ": name a directory that is there"));
  }
  wanted.cluster = invocation.environment.Get("MUSTER_CLUSTER_NAME");
  (void)absl::SimpleAtoi(invocation.environment.Get("MUSTER_JOB_ID"), &wanted.job);
  ASSIGN_OR_RETURN(const std::string place, LedgerPlace(invocation.environment));
  ASSIGN_OR_RETURN(Ledger ledger, Ledger::Hold(place));
  const std::string answer = MakeRoom(
      wanted, quota,
      [&invocation](const std::set<std::uint64_t>& jobs) { return FatesOf(invocation, jobs); },
      SystemClock().Now().time_since_epoch().count(), ledger);
  RETURN_IF_ERROR(ledger.Write());
  RETURN_IF_ERROR(WriteOut(answer + "\n"));
  return 0;
}

}  // namespace muster::cli
