#pragma once

// What users may do and see beyond their own: [access] of the configuration.
//
//   [access]
//   private = ["jobs", "history", "usage", "nodes"]   # what users are not shown of others
//   operators = ["ada", "@hpc-admins"]                # users, and groups of the machine's
//   viewers = ["@support"]
//   [access.coordinators]
//   physics = ["bob"]                                 # of that account and those below it
//
// Thread promise: any thread; it may wait for the machine's name services, once a minute a user.
// Invariants: (1) an operator may change every job and node, and is nobody else: no rule lets a
// user act as another; (2) a group that the machine does not know has nobody.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// What can be private, as a bit of Powers::hidden.
enum class Private : std::uint8_t {
  kJobs = 1,     // jobs that wait or run
  kHistory = 2,  // those that have ended
  kUsage = 4,    // what others used, and their shares
  kNodes = 8,    // nodes on which the caller runs nothing
};

struct AccessSettings {
  std::uint8_t hidden = 0;  // of Private, each a bit
  std::vector<std::string> operators;
  std::vector<std::string> viewers;                              // to them nothing is private
  std::map<std::string, std::vector<std::string>> coordinators;  // by account
  friend bool operator==(const AccessSettings&, const AccessSettings&) = default;
};

// Errors are "FILE:LINE: KEY: PROBLEM".
absl::Status ReadAccess(ConfigFile& file, AccessSettings& settings);

// What the site lets one user do and see.
struct Powers {
  bool operates = false;
  std::uint8_t hidden = 0;               // of Private: what of others is not shown
  std::vector<std::string> coordinates;  // accounts, with those below them
  friend bool operator==(const Powers&, const Powers&) = default;
};

class AccessRules {
 public:
  // The names of a user's groups.
  using GroupsOf = std::function<std::set<std::string>(const User& user)>;
  // `clock` outlives it; `groups`: those of the machine, but in tests.
  explicit AccessRules(const Clock& clock, AccessSettings settings = {}, GroupsOf groups = {});

  // When settings are read, or read again.
  void Use(AccessSettings settings);
  // By the settings and the groups of at most a minute ago.
  [[nodiscard]] Powers Of(const User& user) const;

 private:
  struct Known {
    Powers powers;
    SteadyTime since;
  };
  const Clock& clock_;
  const GroupsOf groups_;
  mutable Mutex mutex_;
  std::shared_ptr<const AccessSettings> settings_ ABSL_GUARDED_BY(mutex_);
  mutable std::map<std::uint32_t, Known> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
