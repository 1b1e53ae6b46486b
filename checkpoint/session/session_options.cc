#include "checkpoint/session/session_options.h"

#include "checkpoint/disk/names.h"
#include "checkpoint/store/manifest.h"

namespace muster::checkpoint {

Error CheckOptions(const SessionOptions& options) {
  if (!IsName(options.job)) {
    return MakeError(Fault::kUsage,
                     "job: is no name: use 1 to 64 letters, digits, '.', '_' and '-'");
  }
  if (options.ranks == 0 || options.ranks > kRanksMax || options.rank >= options.ranks) {
    return MakeError(Fault::kUsage, "rank: use one from 0 to ranks - 1");
  }
  if (!options.local_directory.empty() && options.ranks > 1 && !options.together) {
    return MakeError(Fault::kUsage, "local directory: needs ranks that open together (a group)");
  }
  if (options.keep == 0) {
    return MakeError(Fault::kUsage, "keep: use at least 1");
  }
  if (!(options.age_s >= 0)) {
    return MakeError(Fault::kUsage, "age: use seconds, 0 for none");
  }
  if (!(options.interval_s >= 0)) {
    return MakeError(Fault::kUsage, "interval: use seconds, 0 for none");
  }
  if (!IsRemark(options.topology) || !IsRemark(options.software) || !IsRemark(options.hardware)) {
    return MakeError(Fault::kUsage,
                     "topology, software, hardware: use up to 255 printable ASCII characters");
  }
  return {};
}

Error CheckRankZero(const SessionOptions& options, const char* call) {
  return options.rank == 0 ? Error()
                           : MakeError(Fault::kUsage, std::string(call) + ": is rank 0's");
}

Retention RetentionOf(const SessionOptions& options) {
  return {options.keep, options.milestone, options.age_s, options.bytes_max};
}

}  // namespace muster::checkpoint
