#include "cli/report/usage_tally.h"

#include <algorithm>

namespace muster::cli {
namespace {

std::uint64_t AmountOf(const JobView& job, const std::string& tres) {
  return tres == "cpu"        ? job.cpus
         : tres == "mem"      ? job.memory.value() / kMebibyte.value()
         : tres == "node"     ? job.node_count
         : tres == "gres/gpu" ? job.gpus
                              : 0;
}

}  // namespace

bool RanIn(const JobView& job, const UsageWindow& window) {
  return job.start_time != kNoTime && job.start_time < window.end &&
         (job.end_time == kNoTime || job.end_time > window.start);
}

Duration HeldTime(const JobView& job, const UsageWindow& window) {
  if (job.start_time == kNoTime) {
    return Duration(0);
  }
  const Time start = std::max(job.start_time, window.start);
  const Time end = job.end_time == kNoTime ? window.end : std::min(job.end_time, window.end);
  // Where a part of it lies outside, how much of its pauses does is not known.
  const bool whole = start == job.start_time && end == job.end_time;
  return std::max(end - start - (whole ? job.suspended : Duration(0)), Duration(0));
}

std::uint64_t UsedSeconds(const JobView& job, const std::string& tres, const UsageWindow& window) {
  return static_cast<std::uint64_t>(HeldTime(job, window).count()) / 1000 * AmountOf(job, tres);
}

std::uint64_t OfferedAmount(const std::vector<NodeView>& nodes, const std::string& tres) {
  std::uint64_t amount = 0;
  for (const NodeView& node : nodes) {
    amount += tres == "cpu"        ? node.cpus
              : tres == "mem"      ? node.memory.value() / kMebibyte.value()
              : tres == "node"     ? 1
              : tres == "gres/gpu" ? node.gpus
                                   : 0;
  }
  return amount;
}

std::uint64_t OfferedSeconds(const std::vector<NodeView>& nodes, const std::string& tres,
                             const UsageWindow& window) {
  const Duration length = window.end - window.start;
  return OfferedAmount(nodes, tres) *
         static_cast<std::uint64_t>(std::max<std::int64_t>(length.count(), 0) / 1000);
}

}  // namespace muster::cli
