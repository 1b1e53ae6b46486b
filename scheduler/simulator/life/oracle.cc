#include "scheduler/simulator/life/oracle.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace muster::sim {
namespace {

std::string Label(const Execution& execution) {
  return absl::StrCat("job ", ToString(execution.job), " attempt ", ToString(execution.attempt),
                      " on ", execution.node);
}

}  // namespace

void Oracle::Broken(std::string what) {
  if (!broken_.has_value()) {
    broken_ = std::move(what);
  }
}

// What is frozen keeps its memory on GPUs.
void Oracle::CheckGpus(const Execution& execution) {
  std::map<std::uint32_t, GpuShare> taken;
  for (const Key& key : running_) {
    const Execution& other = executions_.at(key);
    for (const std::uint32_t gpu : (other.gpus & execution.gpus).Members()) {
      taken[gpu] += other.node == execution.node ? other.gpu_share : GpuShare();
    }
  }
  for (const auto& [gpu, share] : taken) {
    if (share + execution.gpu_share > kWholeGpu) {
      Broken(absl::StrCat("promise 2: ", Label(execution), " and others have ",
                          (share + execution.gpu_share).value(), " thousandths of GPU ", gpu));
    }
  }
}

void Oracle::Began(const Execution& execution) {
  const Key key{execution.node, execution.job, execution.attempt};
  // What began before an older journal was put in place, and ended since, that one may not know.
  const auto earlier = executions_.find(key);
  if (earlier != executions_.end() && earlier->second.end.has_value() &&
      earlier->second.begin < restored_) {
    executions_.erase(earlier);
  }
  if (!executions_.emplace(key, execution).second) {
    Broken(absl::StrCat("promise 3: ", Label(execution), " was started twice"));
    return;
  }
  for (const Key& other_key : running_) {
    const Execution& other = executions_.at(other_key);
    if (other.job == execution.job && other.attempt != execution.attempt) {
      Broken(absl::StrCat("promise 3: ", Label(execution), " overlaps ", Label(other)));
    }
  }
  CheckThreads(key);
  CheckGpus(execution);
  running_.push_back(key);
}

// Of those that are not frozen no two on a node have a thread in common.
void Oracle::CheckThreads(const Key& key) {
  const Execution& execution = executions_.at(key);
  for (const Key& other_key : running_) {
    const Execution& other = executions_.at(other_key);
    if (other_key != key && !frozen_.contains(other_key) && other.node == execution.node &&
        other.cpus.Meets(execution.cpus)) {
      Broken(absl::StrCat("promise 2: ", Label(execution), " and ", Label(other), " share threads ",
                          (other.cpus & execution.cpus).ToList()));
    }
  }
}

void Oracle::Frozen(const std::string& node, JobId job, AttemptNumber attempt) {
  const Key key{node, job, attempt};
  if (std::find(running_.begin(), running_.end(), key) == running_.end()) {
    Broken(absl::StrCat("job ", ToString(job), " on ", node, " was frozen and was not running"));
    return;
  }
  frozen_.insert(key);
}

void Oracle::Thawed(const std::string& node, JobId job, AttemptNumber attempt) {
  const Key key{node, job, attempt};
  if (frozen_.erase(key) == 0) {
    Broken(absl::StrCat("job ", ToString(job), " on ", node, " was thawed and was not frozen"));
    return;
  }
  CheckThreads(key);
}

void Oracle::Ended(const std::string& node, JobId job, AttemptNumber attempt, Time now) {
  const Key key{node, job, attempt};
  if (std::erase(running_, key) == 0) {
    Broken(absl::StrCat("job ", ToString(job), " on ", node, " ended and was not running"));
    return;
  }
  frozen_.erase(key);
  executions_.at(key).end = now;
}

void Oracle::Restored(const std::vector<JournalEntry>& journal, JobId next, Time now) {
  restored_ = now;
  std::set<std::string> kept;
  JobId first_lost(1);
  for (const JournalEntry& entry : journal) {
    if (const auto* made = std::get_if<JobSubmitted>(&entry.event)) {
      kept.insert(made->token);
      first_lost = JobId(made->first.value() + made->count);
    } else if (const auto* began = std::get_if<EpochBegan>(&entry.event)) {
      first_lost = std::max(first_lost, began->next_job);
    }
  }
  lost_.emplace_back(first_lost, next);
  std::erase_if(told_, [&kept](const auto& told) { return !kept.contains(told.first); });
  std::erase_if(executions_,
                [](const auto& execution) { return execution.second.end.has_value(); });
}

void Oracle::Acknowledged(const std::string& token, JobId job) {
  for (const auto& [from, to] : lost_) {
    if (job >= from && job < to) {
      return;  // the answer was under way when the journal was put in place
    }
  }
  const auto [told, first] = told_.emplace(token, job);
  if (!first && told->second != job) {
    Broken(absl::StrCat("promise 1: token ", token, " got the answer job ", ToString(told->second),
                        " and job ", ToString(job)));
  }
}

void Oracle::Count(const JobSubmitted& submitted, Tally& tally) {
  if (!tally.made.emplace(submitted.token, submitted.first).second) {
    Broken(absl::StrCat("promise 1: token ", submitted.token, " made two submissions"));
  }
  for (std::uint32_t i = 0; i < submitted.count; ++i) {
    if (!tally.ends.emplace(JobId(submitted.first.value() + i), 0).second) {
      Broken(absl::StrCat("promise 5: an id of job ", ToString(submitted.first),
                          " was given out twice"));
    }
  }
}

void Oracle::Count(const JobEnded& ended, Tally& tally) {
  for (std::uint32_t i = 0; i <= ended.more; ++i) {
    const JobId id(ended.job.value() + i);
    const auto job = tally.ends.find(id);
    if (job == tally.ends.end()) {
      Broken(absl::StrCat("promise 5: job ", ToString(id), " ended and was never submitted"));
    } else if (++job->second > 1) {
      Broken(absl::StrCat("promise 5: job ", ToString(id), " ended twice"));
    }
  }
}

void Oracle::Count(const StepStarted& started, Tally& tally) {
  if (!tally.steps.emplace(started.job, started.attempt, started.step).second) {
    Broken(absl::StrCat("promise 3: step ", ToString(started.step), " of job ",
                        ToString(started.job), " began twice"));
  }
}

void Oracle::TakeLimits(const JobSpec& spec, LimitTally& tally) {
  tally.limit = spec.time_limit;
  tally.deadline = spec.deadline;
  tally.others.clear();
  for (const Alternative& alternative : spec.alternatives) {
    tally.others.push_back(alternative.time_limit);
  }
}

void Oracle::CountLimits(const Event& event, Tally& tally) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&event)) {
    for (std::uint32_t i = 0; i < submitted->count && !submitted->spec.elastic; ++i) {
      const bool own = i > 0 && !submitted->components.empty();
      TakeLimits(own ? submitted->components[i - 1].spec : submitted->spec,
                 tally.limits[JobId(submitted->first.value() + i)]);
    }
    return;
  }
  LimitTally* own = nullptr;
  const auto find = [&](JobId job) {
    const auto found = tally.limits.find(job);
    own = found == tally.limits.end() ? nullptr : &found->second;
    return own != nullptr;
  };
  const auto shorten = [&own] {
    own->least = own->limit > Duration(0) ? std::min(own->least, own->limit) : own->least;
  };
  if (const auto* started = std::get_if<AttemptStarted>(&event);
      started != nullptr && find(started->job)) {
    own->started = started->time;
    own->limit = own->others.empty() ? own->limit : own->others[started->alternative];
    own->least = Duration::max();
    shorten();
  } else if (const auto* updated = std::get_if<JobUpdated>(&event);
             updated != nullptr && find(updated->job)) {
    TakeLimits(updated->spec, *own);
    shorten();
  }
}

void Oracle::CheckLimit(const RunReported& reported, const Tally& tally) {
  const auto* ended = std::get_if<RunEnded>(&reported.report.fact);
  const auto own = tally.limits.find(reported.report.job);
  // Of what began before the journal was put in place, a limit may have been lost with the rest.
  if (ended != nullptr && ended->cause == EndCause::kTimeLimit && own != tally.limits.end() &&
      own->second.started >= restored_ &&
      (own->second.deadline == kNoTime || ended->time + skew_ < own->second.deadline) &&
      ended->time - own->second.started + skew_ < own->second.least) {
    Broken(absl::StrCat("job ", ToString(reported.report.job), " was ended by its time limit ",
                        (ended->time - own->second.started).count(),
                        " ms after its start, and the least it had was ", own->second.least.count(),
                        " ms"));
  }
}

void Oracle::CheckJournal(const std::vector<JournalEntry>& journal, bool all_over) {
  Tally tally;
  queued_steps_ = 0;
  for (const JournalEntry& entry : journal) {
    CountLimits(entry.event, tally);
    if (const auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
      Count(*submitted, tally);
    } else if (const auto* ended = std::get_if<JobEnded>(&entry.event)) {
      Count(*ended, tally);
    } else if (const auto* started = std::get_if<StepStarted>(&entry.event)) {
      Count(*started, tally);
    } else if (const auto* reported = std::get_if<RunReported>(&entry.event)) {
      CheckLimit(*reported, tally);
    } else if (std::holds_alternative<StepQueued>(entry.event)) {
      ++queued_steps_;
    }
  }
  for (const auto& [token, job] : told_) {
    const auto found = tally.made.find(token);
    if (found == tally.made.end() || found->second != job) {
      Broken(absl::StrCat("promise 1: the acknowledged job ", ToString(job), " of token ", token,
                          " is lost"));
    }
  }
  for (const auto& [job, times] : tally.ends) {
    if (all_over && times == 0) {
      Broken(absl::StrCat("promise 5: job ", ToString(job), " never ended"));
    }
  }
  if (all_over && !running_.empty()) {
    Broken(absl::StrCat("promise 5: ", Label(executions_.at(running_.front())),
                        " still runs after all jobs ended"));
  }
}

}  // namespace muster::sim
