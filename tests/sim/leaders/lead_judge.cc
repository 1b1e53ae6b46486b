#include "tests/sim/leaders/lead_judge.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

// The lease, a quarter of it between renewals, an answer that does not come, and some more.
constexpr Duration kUnconfirmedMax{2'000 + 500 + 4'000 + 1'500};

std::string Name(std::size_t controller) {
  return absl::StrCat("controller c", controller + 1);
}

}  // namespace

void LeadJudge::Taken(const std::string& name, const daemon::LeaderRow& before,
                      std::uint64_t epoch) {
  if (before.lease.count() > 0) {
    Broken(absl::StrCat("promise 12: ", name, " took the lead ", before.lease.count(),
                        " ms before the lease of ", before.holder, " ended"));
  }
  if (!before.successor.empty() && before.successor != name && -before.lease < kTurn) {
    Broken(absl::StrCat("promise 12: ", name, " took the lead that was handed over to ",
                        before.successor));
  }
  if (epoch <= last_epoch_) {
    Broken(absl::StrCat("promise 12: epoch ", epoch, " of the lead was given out again"));
  }
  last_epoch_ = epoch;
}

void LeadJudge::Committed(std::size_t controller, std::uint64_t row_epoch,
                          const std::vector<JournalEntry>& entries) {
  const auto [writer, first] = writers_.emplace(row_epoch, controller);
  if (!first && writer->second != controller) {
    Broken(absl::StrCat("promise 12: ", Name(writer->second), " and ", Name(controller),
                        " both wrote in epoch ", row_epoch, " of the lead"));
  }
  for (const JournalEntry& entry : entries) {
    if (const auto* began = std::get_if<EpochBegan>(&entry.event)) {
      begun_[began->epoch] = {entry.version, controller};
    }
  }
}

void LeadJudge::Synced(const JournalEntry& entry) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
    synced_.emplace(submitted->token, submitted->first);
  } else if (const auto* started = std::get_if<AttemptStarted>(&entry.event)) {
    started_.emplace(started->job, started->attempt);
  }
}

void LeadJudge::Forgot(Version from) {
  std::erase_if(begun_, [from](const auto& begun) { return begun.second.first > from; });
}

void LeadJudge::Answered(std::size_t controller, const std::string& token, JobId job) {
  const auto found = synced_.find(token);
  if (found == synced_.end() || found->second != job) {
    Broken(absl::StrCat("promise 12: ", Name(controller), " told the owner of ", token,
                        " that it is job ", ToString(job), ", which can still be lost"));
  }
}

void LeadJudge::OrderLeaves(std::size_t controller, Epoch epoch) {
  const auto begun = begun_.find(epoch);
  if (begun == begun_.end() || begun->second.second != controller) {
    Broken(absl::StrCat("promise 12: ", Name(controller), " sent an order of epoch ",
                        ToString(epoch), ", which it did not begin"));
  }
}

void LeadJudge::LaunchLeaves(std::size_t controller, JobId job, AttemptNumber attempt) {
  if (!started_.contains({job, attempt})) {
    Broken(absl::StrCat("promise 12: ", Name(controller), " ordered the launch of job ",
                        ToString(job), ", a start that can still be lost"));
  }
}

void LeadJudge::CheckEnds(const std::vector<JournalEntry>& journal) {
  std::set<std::pair<JobId, AttemptNumber>> asked;
  for (const JournalEntry& entry : journal) {
    if (const auto* ending = std::get_if<AttemptEnding>(&entry.event)) {
      asked.emplace(ending->job, ending->attempt);
    } else if (const auto* reported = std::get_if<RunReported>(&entry.event)) {
      const auto* ended = std::get_if<RunEnded>(&reported->report.fact);
      const bool itself = ended == nullptr || ended->cause == EndCause::kExited ||
                          ended->cause == EndCause::kTimeLimit ||
                          ended->cause == EndCause::kLaunchFailed ||
                          asked.contains({reported->report.job, reported->report.attempt});
      if (!itself) {
        Broken(absl::StrCat("promise 4: job ", ToString(reported->report.job),
                            " was ended, and nobody had asked for it"));
      }
    }
  }
}

void LeadJudge::LeadsUnconfirmed(std::size_t controller, Duration time) {
  if (time > kUnconfirmedMax) {
    Broken(absl::StrCat("promise 12: ", Name(controller), " leads on ", time.count(),
                        " ms after the database confirmed it"));
  }
}

}  // namespace muster::sim
