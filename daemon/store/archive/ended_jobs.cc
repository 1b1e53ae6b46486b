#include "daemon/store/archive/ended_jobs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "daemon/store/rows/journal.h"
#include "daemon/store/state_reader.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kJobsOfPiece = 128;
constexpr std::size_t kJobsAtOnce = std::size_t{1} << 17;
constexpr std::int64_t kRowsAtOnce = 4096;

// Jobs that ended before may go; nullopt: none.
absl::StatusOr<std::optional<std::int64_t>> EndedBefore(Database& store, const JobsKept& kept,
                                                        Time now) {
  std::optional<std::int64_t> before;
  if (kept.age.count() > 0) {
    before = (now - kept.age).time_since_epoch().count();
  }
  if (kept.most > 0) {
    Statement row(store, "SELECT ended FROM history ORDER BY ended DESC LIMIT 1 OFFSET ?");
    row.Start(kept.most);
    ASSIGN_OR_RETURN(const bool more, row.Next());
    if (more) {
      before = std::max(before.value_or(0), row.Integer(0) + 1);
    }
  }
  if (before.has_value()) {
    before = std::min<std::int64_t>(*before, (now - kept.least).time_since_epoch().count());
  }
  return before;
}

// Looks through what ended before, the oldest first.
class Search {
 public:
  Search(Database& store, std::int64_t before, Version begins, Time now)
      : store_(store), before_(before), begins_(begins), now_(now) {}

  absl::StatusOr<DroppedJobs> Run() {
    std::int64_t ended = -1;
    std::int64_t id = 0;
    while (found_ < kJobsAtOnce) {
      std::vector<std::uint64_t> submissions;
      rows_.Start(before_, ended, ended, id, kRowsAtOnce);
      std::int64_t rows = 0;
      while (true) {
        ASSIGN_OR_RETURN(const bool more, rows_.Next());
        if (!more) {
          break;
        }
        ++rows;
        ended = rows_.Integer(0);
        id = rows_.Integer(1);
        submissions.push_back(rows_.Unsigned(2));
      }
      for (const std::uint64_t submission : submissions) {
        RETURN_IF_ERROR(seen_.insert(submission).second ? Look(submission) : absl::OkStatus());
      }
      if (rows < kRowsAtOnce) {
        break;
      }
    }
    End(fresh_, found_jobs_.fresh);
    End(archived_, found_jobs_.archived);
    return std::move(found_jobs_);
  }

 private:
  absl::Status Look(std::uint64_t submission) {
    ended_submission_.Start(submission, begins_.value());
    ASSIGN_OR_RETURN(const bool ended, ended_submission_.Next());
    const std::uint64_t count = ended ? ended_submission_.Unsigned(0) : 0;
    ended_submission_.Reset();
    younger_.Start(submission, before_);
    ASSIGN_OR_RETURN(const bool younger, younger_.Next());
    younger_.Reset();
    if (!ended || younger) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const bool needed, IsNeeded(submission, count));
    if (needed) {
      return absl::OkStatus();
    }
    loaded_.Start(submission);
    ASSIGN_OR_RETURN(const bool loaded, loaded_.Next());
    const std::int64_t until = loaded ? loaded_.Integer(0) : 0;
    loaded_.Reset();
    if (loaded) {
      return until < now_.time_since_epoch().count()
                 ? Add(submission, archived_, found_jobs_.archived)
                 : absl::OkStatus();
    }
    return Add(submission, fresh_, found_jobs_.fresh);
  }

  absl::Status Add(std::uint64_t submission, Drops& piece, std::vector<Drops>& pieces) {
    jobs_.Start(submission);
    while (true) {
      ASSIGN_OR_RETURN(const bool more, jobs_.Next());
      if (!more) {
        break;
      }
      if (piece.jobs.size() == kJobsOfPiece) {
        End(piece, pieces);  // so that a submission goes with a job of its own
      }
      piece.jobs.emplace_back(jobs_.Unsigned(0));
      ++found_;
    }
    piece.submissions.emplace_back(submission);
    return absl::OkStatus();
  }

  // Whether a live job depends on one of the submission.
  absl::StatusOr<bool> IsNeeded(std::uint64_t submission, std::uint64_t count) {
    if (!targets_.has_value()) {
      ASSIGN_OR_RETURN(const StateImage image, ReadStateWithin(store_));
      targets_.emplace();
      for (const TargetHistory& target : image.history) {
        targets_->insert(target.job.value());
      }
    }
    const auto first = targets_->lower_bound(submission);
    return first != targets_->end() && *first < submission + count;
  }

  static void End(Drops& piece, std::vector<Drops>& pieces) {
    if (!piece.jobs.empty() || !piece.submissions.empty()) {
      pieces.push_back(std::exchange(piece, Drops()));
    }
  }

  Database& store_;
  const std::int64_t before_;
  const Version begins_;
  const Time now_;
  std::set<std::uint64_t> seen_;
  std::optional<std::set<std::uint64_t>> targets_;
  std::size_t found_ = 0;
  Drops fresh_;  // a piece that grows
  Drops archived_;
  DroppedJobs found_jobs_;
  Statement rows_{store_,
                  "SELECT ended, id, submission FROM history WHERE ended < ? AND "
                  "(ended > ? OR (ended = ? AND id > ?)) ORDER BY ended, id LIMIT ?"};
  Statement ended_submission_{
      store_, "SELECT count FROM submissions WHERE first = ? AND open = 0 AND version < ?"};
  Statement younger_{store_, "SELECT 1 FROM history WHERE submission = ? AND ended >= ? LIMIT 1"};
  Statement jobs_{store_, "SELECT id FROM history WHERE submission = ?"};
  Statement loaded_{store_, "SELECT until FROM loaded WHERE submission = ?"};
};

}  // namespace

absl::StatusOr<DroppedJobs> FindDroppedJobs(Database& store, const JobsKept& kept, Time now) {
  Transaction reading(store);
  RETURN_IF_ERROR(reading.Begin(Transaction::Kind::kRead));
  ASSIGN_OR_RETURN(const std::optional<std::int64_t> before, EndedBefore(store, kept, now));
  if (!before.has_value()) {
    return DroppedJobs();
  }
  ASSIGN_OR_RETURN(const Version begins, ReadJournalBegins(store));
  return Search(store, *before, begins, now).Run();
}

}  // namespace muster::daemon
