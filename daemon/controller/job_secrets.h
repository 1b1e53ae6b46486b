#pragma once

// The secrets by which the supervisors of an attempt know one another.
//
// Made from a key of the controller's, so that every node of an attempt gets the same one, also by
// a controller that was started again in between, and nothing needs to be stored for a job. Thread
// promise: immutable; safe from any thread. Invariant: the secret of one attempt reveals nothing of
// another's.

#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

class JobSecrets {
 public:
  // None: Of() is empty.
  JobSecrets() = default;
  // The key in the file `path` (mode 0600), which is made, durably, when there is none. An error
  // names the file and the mend.
  static absl::StatusOr<JobSecrets> Open(const std::string& path);
  // The same key as text, and one that came as text: of controllers that share a store.
  [[nodiscard]] std::string ToText() const;
  static absl::StatusOr<JobSecrets> FromText(const std::string& text);

  // 64 hex digits.
  [[nodiscard]] std::string Of(JobId job, AttemptNumber attempt) const;

 private:
  std::string key_;
};

}  // namespace muster::daemon
