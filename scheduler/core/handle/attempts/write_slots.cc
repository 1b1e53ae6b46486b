#include "scheduler/core/handle/attempts/write_slots.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/core/handle/attempts/checkpoint_handlers.h"
#include "scheduler/core/state/tables/checkpoint_account.h"

namespace muster::core {
namespace {

// How long before a checkpoint is due its slot is looked at: a tick, and the way to the program.
constexpr Duration kLead = std::chrono::seconds(2);
// A slot in which nothing was committed ends after this many times the cost that was measured.
constexpr int kCostsToCommit = 4;
constexpr Duration kSlotMin = std::chrono::minutes(1);

bool HasSlots(const CheckpointPolicy& policy) {
  return policy.writers > 0 || !policy.bandwidth.zero();
}

std::int64_t ThreadsOf(const Attempt& attempt) {
  std::int64_t threads = 0;
  for (const NodeAllocation& node : attempt.allocation.nodes) {
    threads += node.cpus.Count();
  }
  return threads;
}

bool SlotIsOver(const CheckpointAdvice& advice, const CheckpointRecord& record, Time now) {
  return record.committed > advice.slot_since ||
         now - advice.slot_since > std::max(kCostsToCommit * record.cost, kSlotMin);
}

WriteClaim ClaimOf(const Job& job, const CheckpointRecord& record, Time now) {
  const CheckpointAdvice& advice = job.attempt->advice;
  WriteClaim claim;
  claim.job = job.id;
  claim.writing = advice.slot == WriteSlot::kYours && !SlotIsOver(advice, record, now);
  claim.due = now + kLead >= record.committed + record.interval;
  claim.at_risk = (now - record.begun).count() * ThreadsOf(*job.attempt);
  if (advice.slot == WriteSlot::kYours && !claim.writing && record.committed <= advice.slot_since) {
    claim.at_risk = 0;  // it had its slot and did not use it: behind all others
  }
  const auto cost = static_cast<std::uint64_t>(std::max<std::int64_t>(record.cost.count(), 1));
  claim.bytes_per_second = record.bytes.value() / cost * std::chrono::milliseconds::period::den;
  return claim;
}

// It can have a slot: it runs, and its programs checkpoint by the interval that they are advised.
// One that owes the answer to a notice waits for nobody.
bool TakesSlots(const Job& job, const CheckpointRecord& record) {
  return IsRunning(job.state) && job.attempt->ending == EndCause::kNone &&
         !OwesAnswer(job.attempt->advice, record) && record.count > 0 &&
         record.interval > Duration(0);
}

void Give(const Job& job, WriteSlot slot_now, Time now, Transition& transition) {
  CheckpointAdvice advice = job.attempt->advice;
  if (advice.slot != slot_now) {
    advice.notice = CheckpointNotice::kNone;
    advice.slot = slot_now;
    advice.slot_since = now;
    GiveAdvice(job, advice, now, transition);
  }
}

}  // namespace

std::vector<JobId> WritersNow(std::vector<WriteClaim> claims, const CheckpointPolicy& policy) {
  std::sort(claims.begin(), claims.end(), [](const WriteClaim& a, const WriteClaim& b) {
    if (a.writing != b.writing) {
      return a.writing;
    }
    return a.at_risk != b.at_risk ? a.at_risk > b.at_risk : a.job < b.job;
  });
  std::vector<JobId> writers;
  std::uint64_t used = 0;
  for (const WriteClaim& claim : claims) {
    const bool room = policy.writers == 0 || writers.size() < policy.writers;
    const bool fits = policy.bandwidth.zero() || writers.empty() ||
                      (used <= policy.bandwidth.value() &&
                       claim.bytes_per_second <= policy.bandwidth.value() - used);
    if (!claim.writing && (!claim.due || !room)) {
      continue;
    }
    if (!claim.writing && !fits) {
      break;  // those with less at risk do not overtake it
    }
    writers.push_back(claim.job);
    used += claim.bytes_per_second;
  }
  return writers;
}

void GiveWriteSlots(const ClusterState& state, Time now, const SchedulerConfig& config,
                    Transition& transition) {
  const bool slots = HasSlots(config.checkpoint);
  std::vector<WriteClaim> claims;
  std::vector<const Job*> jobs;
  state.jobs().ForEachRun([&](const Job& job, std::uint32_t) {
    if (!job.attempt.has_value()) {
      return;
    }
    const CheckpointRecord record = CheckpointsOf(*job.attempt);
    if (TakesSlots(job, record)) {
      jobs.push_back(&job);
      if (slots) {
        claims.push_back(ClaimOf(job, record, now));
      }
    }
  });
  const std::vector<JobId> list = WritersNow(std::move(claims), config.checkpoint);
  const std::set<JobId> writers(list.begin(), list.end());
  for (const Job* job : jobs) {
    Give(*job,
         !slots                      ? WriteSlot::kFree
         : writers.contains(job->id) ? WriteSlot::kYours
                                     : WriteSlot::kWait,
         now, transition);
  }
}

}  // namespace muster::core
