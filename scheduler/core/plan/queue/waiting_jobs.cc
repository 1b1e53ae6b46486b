#include "scheduler/core/plan/queue/waiting_jobs.h"

#include <algorithm>

#include "scheduler/base/status.h"
#include "scheduler/model/job/array.h"

namespace muster::core {

std::int64_t PlainPriority(const JobSpec& spec) {
  return spec.priority > 0 ? std::int64_t{spec.priority} : kBasePriority - spec.nice;
}

bool GoesBefore(const WaitingJob& a, const WaitingJob& b) {
  const std::int64_t own = PlainPriority(*a.spec);
  const std::int64_t other = PlainPriority(*b.spec);
  if (own != other) {
    return own > other;
  }
  return a.id < b.id;
}

WaitingJob ElementsOf(const WaitingJob& entry, std::uint32_t offset, std::uint32_t count) {
  MUSTER_CHECK(count <= entry.count && offset <= entry.count - count);
  WaitingJob part = entry;
  part.count = count;
  if (offset > 0) {
    part.id = JobId(entry.id.value() + offset);
    part.array_index = IndexOfElement(*entry.spec->array, entry.submission, part.id);
  }
  return part;
}

std::optional<WaitingJob> FindWaiting(const Snapshot& snapshot, JobId job) {
  const auto entry = std::find_if(
      snapshot.waiting.begin(), snapshot.waiting.end(), [job](const WaitingJob& candidate) {
        return candidate.id <= job && job.value() - candidate.id.value() < candidate.count;
      });
  if (entry == snapshot.waiting.end()) {
    return std::nullopt;
  }
  return ElementsOf(*entry, static_cast<std::uint32_t>(job.value() - entry->id.value()));
}

}  // namespace muster::core
