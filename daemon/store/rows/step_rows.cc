#include "daemon/store/rows/step_rows.h"

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "daemon/store/rows/journal.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// The order in which ranks failed. Those that are ended because another failed are so by signals,
// maybe in the same millisecond: they come after it.
std::int64_t FailureKey(const RankExit& rank) {
  const bool as_others_are = rank.status.signal == SIGTERM || rank.status.signal == SIGKILL;
  return 2 * std::max<std::int64_t>(rank.time.time_since_epoch().count(), 1) +
         (as_others_are ? 1 : 0);
}

// The rank that failed first; null when none did.
const RankExit* FirstFailure(const std::vector<RankExit>& ranks) {
  const RankExit* first = nullptr;
  for (const RankExit& rank : ranks) {
    if (!rank.status.success() && (first == nullptr || FailureKey(rank) < FailureKey(*first))) {
      first = &rank;
    }
  }
  return first;
}

}  // namespace

absl::Status StepRows::Write(Version version, const StepStarted& event, const std::string& secret) {
  std::vector<std::string> nodes;
  std::uint64_t tasks = 0;
  std::uint64_t cpus = 0;
  std::uint64_t gpus = 0;
  for (const NodeAllocation& part : event.placement.nodes) {
    nodes.push_back(part.name);
    tasks += part.ranks.size();
    cpus += part.cpus.Count();
    gpus += part.gpus.size();
  }
  return insert_step_.Run(event.job.value(), event.attempt.value(), event.step.value(),
                          version.value(), event.token, event.name, TimeColumn(event.time),
                          absl::StrJoin(nodes, ","), tasks, cpus, gpus, std::uint64_t{nodes.size()},
                          Blob{secret});
}

absl::Status StepRows::Write(Version version, const StepQueued& event, const std::string& secret) {
  return queue_step_.Run(event.job.value(), event.attempt.value(), event.step.value(),
                         version.value(), event.token, event.name, TimeColumn(event.time),
                         Blob{secret});
}

absl::StatusOr<std::string> StepRows::NodeName(NodeId node) {
  find_node_.Start(node.value());
  ASSIGN_OR_RETURN(const bool found, find_node_.Next());
  std::string name = found ? std::string(find_node_.Text(0)) : ToString(node);
  find_node_.Reset();
  return name;
}

absl::Status StepRows::Write(const RunReported& reported, const StepEnded& ended) {
  const Report& report = reported.report;
  const RankExit* failed = FirstFailure(ended.ranks);
  const ExitStatus status = failed == nullptr ? ExitStatus() : failed->status;
  std::string text;
  if (failed != nullptr) {
    ASSIGN_OR_RETURN(const std::string node, NodeName(reported.node));
    text = absl::StrCat("rank ", failed->rank, " on ", node, failed->text.empty() ? "" : ": ",
                        failed->text);
  }
  return end_step_.Run(
      report.job.value(), report.attempt.value(), ended.step.value(), TimeColumn(ended.time),
      status.code, status.signal, std::int64_t{ended.usage.user_cpu.count()},
      std::int64_t{ended.usage.system_cpu.count()}, ended.usage.peak_memory.value(), text,
      failed == nullptr ? std::int64_t{0} : FailureKey(*failed));
}

absl::Status StepRows::Write(const StepDropped& event) {
  return drop_step_.Run(TimeColumn(event.time), event.text, event.job.value(),
                        event.attempt.value(), event.step.value());
}

absl::Status StepRows::Erase(JobId first, JobId last) {
  return erase_steps_.Run(Blob{}, first.value(), last.value());
}

}  // namespace muster::daemon
