#pragma once

// `muster up --service`: the personal cluster as a service of the user's systemd, which outlives
// the terminal; where no systemd runs for the user, a process in the background. `muster down` ends
// either.
//
// Thread promise: the main thread's; starting and stopping wait. Invariants: (1) a cluster that was
// started is ready or has been refused with the last line of its log; (2) jobs outlive a stop, as
// that of `muster up`.

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

// A user's systemd, if there is one.
class UserManager {
 public:
  // NotFound when none runs for us.
  static absl::StatusOr<UserManager> Find(const Environment& environment);

  // Where units of the user's own lie.
  [[nodiscard]] const std::string& units() const { return units_; }
  // Runs systemctl --user with these words; its last line where it fails.
  absl::Status Control(const std::vector<std::string>& words) const;

 private:
  std::string runtime_;  // XDG_RUNTIME_DIR
  std::string units_;
  std::vector<std::string> environment_;
};

// The unit of the cluster in that state directory: "muster.service" for the usual one.
std::string UnitName(const std::string& state, const Environment& environment);
// The whole unit. `command`: "muster up …" with the program's path.
std::string UnitText(const std::vector<std::string>& command, const std::string& directory);

// Has the cluster started: by `manager`'s unit of that name, or with its log in `log`. Returns once
// `ready()` says true. DeadlineExceeded after a minute.
absl::Status StartUnit(const UserManager& manager, const std::string& unit, const std::string& text,
                       const std::function<bool()>& ready);
absl::Status StartInBackground(const std::vector<std::string>& command,
                               const Environment& environment, const std::string& log,
                               const std::function<bool()>& ready);

// Ends the unit and takes it away; NotFound when there is none.
absl::Status StopUnit(const UserManager& manager, const std::string& unit);
// Ends the `muster up` that holds the state directory, and waits until it has let go. NotFound when
// none does.
absl::Status StopHolder(const std::string& state);

}  // namespace muster::cli
