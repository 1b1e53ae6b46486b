#include "checkpoint/advice/retention.h"

namespace muster::checkpoint {

std::vector<std::uint64_t> Surplus(const std::vector<Aged>& complete, const Retention& retention,
                                   std::uint64_t now_ms) {
  constexpr double kMillisecondsPerSecond = 1000;
  std::vector<std::uint64_t> surplus;
  std::uint64_t bytes = 0;
  bool full = false;
  for (std::size_t i = 0; i < complete.size(); ++i) {
    const Aged& each = complete[i];
    const bool wanted =
        i < retention.keep || (retention.milestone > 0 && each.number % retention.milestone == 0);
    // A clock that went back makes nothing old.
    const double age_s = each.written_ms < now_ms ? static_cast<double>(now_ms - each.written_ms) /
                                                        kMillisecondsPerSecond
                                                  : 0;
    const bool young = retention.age_s <= 0 || age_s <= retention.age_s;
    if (i > 0 && !(wanted && young)) {
      surplus.push_back(each.number);
      continue;
    }
    // From the first that does not fit on, all go: no older one outlives a newer one for its size.
    full = full || (retention.bytes > 0 && each.bytes > retention.bytes - bytes);
    if (i > 0 && full) {
      surplus.push_back(each.number);
      continue;
    }
    bytes += full ? 0 : each.bytes;
  }
  return surplus;
}

}  // namespace muster::checkpoint
