#include "daemon/alerts/warnings.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

// More advised intervals than these without a checkpoint are too many.
constexpr int kIntervalsMost = 3;
constexpr const char* kOverdue = "CheckpointOverdue";
constexpr Duration kOverdueLeast = std::chrono::minutes(1);

// Nodes say themselves that their programs make none though they were asked to. Where those of one
// node make them for the whole job, the others owe none; and one word of it is enough.
void DropNotOwed(const Attempt& attempt, std::vector<Warning>& warnings) {
  const bool made = std::any_of(attempt.runs.begin(), attempt.runs.end(),
                                [](const NodeRun& run) { return run.checkpoints.count > 0; });
  bool owed = !made && HoldsCores(attempt);
  std::erase_if(warnings, [&owed](const Warning& warning) {
    return warning.rule == kOverdue && !std::exchange(owed, false);
  });
}

// Of programs that have made some in this attempt.
void AddOverdue(const Attempt& attempt, Time now, std::vector<Warning>& warnings) {
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const NodeRun& run = attempt.runs[i];
    const CheckpointRecord& record = run.checkpoints;
    if (run.phase == RunPhase::kEnded || record.count == 0 || record.interval == Duration(0) ||
        !HoldsCores(attempt)) {
      continue;
    }
    const Duration most = std::max(kIntervalsMost * record.interval + record.cost, kOverdueLeast);
    if (now - record.committed > most) {
      warnings.push_back(
          {kOverdue,
           absl::StrCat("its last checkpoint on ", attempt.allocation.nodes[i].name, " was ",
                        RoughText(now - record.committed), " ago, where one every ",
                        RoughText(record.interval),
                        " is advised: its programs make none any more, or cannot write them"),
           record.committed + record.interval});
      return;
    }
  }
}

void AddFailing(const Attempt& attempt, Time now, std::vector<Warning>& warnings) {
  for (std::size_t i = 0; i < attempt.runs.size(); ++i) {
    const NodeRun& run = attempt.runs[i];
    const CheckpointRecord& record = run.checkpoints;
    if (run.phase == RunPhase::kEnded || (record.failed == 0 && record.refused.empty())) {
      continue;
    }
    const bool none = record.count == 0;
    if (!record.refused.empty()) {
      warnings.push_back({"CheckpointFailing",
                          absl::StrCat("a checkpoint of it was refused: ", record.refused,
                                       "; muster checkpoint usage says what takes the room"),
                          none ? attempt.started : record.committed});
      return;
    }
    warnings.push_back({"CheckpointFailing",
                        absl::StrCat(record.failed == 1 ? "its newest checkpoint on "
                                                        : absl::StrCat("its newest ", record.failed,
                                                                       " checkpoints on "),
                                     attempt.allocation.nodes[i].name, " failed",
                                     none ? ", and it has made none before"
                                          : absl::StrCat("; the last good one was ",
                                                         RoughText(now - record.committed), " ago"),
                                     ": see its output for why"),
                        none ? attempt.started : record.committed});
    return;
  }
}

}  // namespace

std::vector<Warning> WarningsOf(const LiveUsage& usage, const Job& job, Time now) {
  std::vector<Warning> warnings;
  if (job.attempt.has_value()) {
    warnings = usage.WarningsOf(job);
    DropNotOwed(*job.attempt, warnings);
    AddOverdue(*job.attempt, now, warnings);
    AddFailing(*job.attempt, now, warnings);
  }
  return warnings;
}

std::vector<Warning> ControllerWarnings::Now(Time now) const {
  std::vector<Warning> warnings;
  const std::chrono::duration<double> last(meters_.commit.Read().last);
  if (last > kSlowCommit) {
    warnings.push_back(
        {"StoreSlow",
         absl::StrFormat("the newest change took %.1f s until it was on the disk", last.count()),
         now});
  }
  if (certificate_.empty()) {
    return warnings;
  }
  const MutexLock lock(&mutex_);
  if (now - read_ >= kReadEvery) {
    read_ = now;
    const absl::StatusOr<std::string> text = ReadFile(certificate_);
    const absl::StatusOr<CertificateFacts> facts =
        text.ok() ? ReadCertificate(*text) : absl::StatusOr<CertificateFacts>(text.status());
    ending_ = facts.ok() ? ExpiryWarning(*facts, now) : std::string(facts.status().message());
  }
  if (!ending_.empty()) {
    warnings.push_back({"CertificateEnding", ending_, read_});
  }
  return warnings;
}

std::vector<SubjectWarning> ControllerWarnings::OfCallers(Time now) const {
  std::vector<SubjectWarning> warnings;
  if (callers_ == nullptr) {
    return warnings;
  }
  for (const CertificateFacts& facts : callers_->Ending(now)) {
    SubjectWarning& warning = warnings.emplace_back();
    warning.subject = absl::StrCat("certificate of ", ToText(facts.subject));
    warning.node = facts.subject.role == CertificateRole::kAgent ? facts.subject.name : "";
    warning.warning = {"CertificateEnding", ExpiryWarning(facts, now), now};
  }
  return warnings;
}

}  // namespace muster::daemon
