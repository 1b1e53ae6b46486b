#pragma once

// What names an attempt on a node: the job and the number of its attempt.
//
// Invariant: its text is the attempt's directory name, and what a notification carries.

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/ids.h"

namespace muster::agent {

struct AttemptKey {
  JobId job;
  AttemptNumber attempt;
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;
};

inline std::string ToString(const AttemptKey& key) {
  return AttemptDirectory::NameOf(key.job, key.attempt);
}

// The key that `name` spells; InvalidArgument unless it is exactly what ToString() would write.
inline absl::StatusOr<AttemptKey> ParseAttemptKey(std::string_view name) {
  AttemptKey key;
  RETURN_IF_ERROR(AttemptDirectory::ParseName(name, &key.job, &key.attempt));
  if (ToString(key) != name) {
    return absl::InvalidArgumentError("an attempt's number with leading zeros");
  }
  return key;
}

}  // namespace muster::agent
