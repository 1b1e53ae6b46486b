#include "daemon/store/target_history.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"

namespace muster::daemon {
namespace {

// Columns: state, array_index, when its first attempt started (NULL: never).
constexpr const char* kSelect =
    "SELECT state, coalesce(array_index, -1), coalesce(attempts.started, history.started, 0) "
    "FROM history LEFT JOIN attempts ON attempts.job = history.id AND attempts.number = 1 WHERE ";

absl::Status CountRows(Statement& rows, TargetHistory* target) {
  const std::string completed = Name(JobState::kCompleted);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      rows.Reset();
      return absl::OkStatus();
    }
    const bool well = rows.Text(0) == completed;
    ++target->ended;
    target->failed += well ? 0 : 1;
    target->started = std::max(target->started, Time(Duration(rows.Integer(2))));
    if (rows.Integer(1) >= 0) {
      (well ? target->completed : target->others)
          .Insert(static_cast<std::uint32_t>(rows.Integer(1)));
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<TargetHistory>> ReadTargets(Database& database,
                                                       const std::vector<DependencyTerm>& terms) {
  // An array's id names all of its elements, any other id one job.
  Statement whole(database,
                  std::string(kSelect) + "submission = ? OR history.id = ? ORDER BY history.id");
  Statement element(database, std::string(kSelect) + "submission = ? AND array_index = ?");
  std::vector<TargetHistory> targets;
  for (const DependencyTerm& term : terms) {
    if (!term.job.valid()) {
      continue;
    }
    TargetHistory target;
    target.job = term.job;
    target.element = term.element;
    if (term.element.has_value()) {
      element.Start(term.job.value(), std::int64_t{*term.element});
    } else {
      whole.Start(term.job.value(), term.job.value());
    }
    RETURN_IF_ERROR(CountRows(term.element.has_value() ? element : whole, &target));
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace muster::daemon
