#include "daemon/serve/housekeeping.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/leading/await.h"
#include "daemon/store/archive/job_archive.h"
#include "daemon/store/archive/journal_segment.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/rows/meta_rows.h"
#include "daemon/store/state_reader.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;

constexpr Duration kLookAtMost = std::chrono::minutes(10);
constexpr Duration kBeginAtMost = std::chrono::hours(24);  // between two files of a kind
constexpr milliseconds kBetweenPieces{20};
constexpr milliseconds kPieceMost = std::chrono::minutes(1);  // a store may be slow

}  // namespace

Housekeeping::Housekeeping(JobStore& store, Controller& controller, const Clock& clock,
                           const Logger& log, Retention retention, Scripts scripts)
    : store_(store),
      controller_(controller),
      clock_(clock),
      log_(log),
      retention_(std::move(retention)),
      scripts_(scripts),
      thread_([this] { Run(); }) {}

Housekeeping::~Housekeeping() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

// False: the end has come.
bool Housekeeping::Pause(milliseconds time) {
  std::unique_lock hold(mutex_);
  return !wake_.wait_for(hold, time, [this] { return stopping_; });
}

void Housekeeping::Run() {
  do {
    const absl::Status status = controller_.leads() ? LookOnce() : absl::OkStatus();
    const std::string text(status.message());
    if (!status.ok() && !absl::IsCancelled(status) && text != complained_) {
      log_.Warning("retention", text);
    }
    complained_ = text;
  } while (Pause(std::min(kLookAtMost, retention_.journal / 8)));
}

absl::Status Housekeeping::LookOnce() {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader, store_.OpenReader());
  ASSIGN_OR_RETURN(const std::int64_t whole, ReadMeta(*reader, "whole_entries"));
  if (whole > 0) {
    return absl::OkStatus();  // secrets are still taken out of old entries
  }
  const std::string directory = retention_.DirectoryOf(store_);
  ASSIGN_OR_RETURN(const JournalArchive archive, JournalArchive::Open(directory));
  RETURN_IF_ERROR(BeginAgain(archive, *reader));
  if (retention_.jobs.all()) {
    return absl::OkStatus();
  }
  return DropJobs(directory, *reader);
}

// What goes is in the archive first. It goes many at a time, so that the archive's files are few.
absl::Status Housekeeping::DropJobs(const std::string& directory, Database& reader) {
  const Time now = clock_.Now();
  ASSIGN_OR_RETURN(DroppedJobs jobs, FindDroppedJobs(reader, retention_.jobs, now));
  RETURN_IF_ERROR(Drop(std::move(jobs.archived)));
  if (jobs.fresh.empty() || (jobs_dropped_ != kNoTime && now - jobs_dropped_ < Between())) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string file, WriteJobs(reader, directory, jobs.fresh));
  jobs_dropped_ = now;
  log_.Info("retention", absl::StrCat(file, ": ended jobs that leave the store"));
  return Drop(std::move(jobs.fresh));
}

Duration Housekeeping::Between() const {
  return std::min(kBeginAtMost, retention_.journal / 4);
}

// Takes a beginning when it is time for one, and has the journal begin with the newest that is old
// enough.
absl::Status Housekeeping::BeginAgain(const JournalArchive& archive, Database& reader) {
  const Time now = clock_.Now();
  std::vector<JournalBeginning> beginnings = archive.Beginnings();
  ASSIGN_OR_RETURN(const Version last, ReadVersion(reader));
  if (beginnings.empty() ||
      (beginnings.back().version < last && now - beginnings.back().taken >= Between())) {
    ASSIGN_OR_RETURN(const JournalBeginning taken, archive.Take(reader, now));
    controller_.PlanAfresh();
    beginnings.push_back(taken);
  }
  ASSIGN_OR_RETURN(const Version begins, ReadJournalBegins(reader));
  const auto old_enough =
      std::find_if(beginnings.rbegin(), beginnings.rend(), [&](const JournalBeginning& each) {
        return now - each.taken >= retention_.journal && each.version >= begins;
      });
  if (old_enough == beginnings.rend()) {
    return absl::OkStatus();
  }
  const Version until = old_enough->version;
  RETURN_IF_ERROR(archive.Write(reader, begins, until, scripts_));
  ASSIGN_OR_RETURN(std::vector<Drops> pieces, FindDroppedEntries(reader, until));
  RETURN_IF_ERROR(Drop(std::move(pieces)));
  archive.RemoveBefore(until);
  log_.Info("retention", absl::StrCat("the journal begins after entry ", until.value(),
                                      "; the entries before are in the archive"));
  return absl::OkStatus();
}

absl::Status Housekeeping::Drop(std::vector<Drops> pieces) {
  for (Drops& piece : pieces) {
    auto held = std::make_shared<Drops>(std::move(piece));
    RETURN_IF_ERROR(Await(
        [&](const Controller::Reply& reply) {
          controller_.Keep([held](Batch& batch, Time) { batch.drops.push_back(std::move(*held)); },
                           reply);
        },
        kPieceMost));
    if (!Pause(kBetweenPieces)) {
      return absl::CancelledError("stopping");
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon
