#pragma once

// The private folder of a session on its node: where its server listens, and which shells are in
// it.
//
// The keeper makes it; what `muster dev` starts in the job reads it. Invariants: it belongs to the
// job's user, and no other user reads it, for a token lies there; a name that another user has
// taken is refused; what is written in it is whole or not there.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// How a session is reached.
struct SessionDoor {
  std::uint16_t port = 0;  // 0: a shell alone
  std::string token;       // that its server asks for
  std::string url;         // the path of its first page, with the token in it
  friend bool operator==(const SessionDoor&, const SessionDoor&) = default;
};

// As the folder keeps it and as `muster dev --await` prints it: port, token and path, a line each.
std::string DoorText(const SessionDoor& door);
// DataLoss: it is none.
absl::StatusOr<SessionDoor> ReadDoor(const std::string& text);

class SessionPlace {
 public:
  // Of the job that `environment` (a process of it) names. FailedPrecondition outside a job.
  static absl::StatusOr<SessionPlace> Of(const Environment& environment);

  // Makes the folder; that of an earlier attempt goes.
  absl::Status Make() const;
  void Remove() const;
  // NotFound: there is none. PermissionDenied: it is another user's.
  absl::Status Check() const;

  absl::Status Open(const SessionDoor& door) const;
  // Nothing: not yet.
  absl::StatusOr<std::optional<SessionDoor>> Door() const;

  // The container that shells are in: options of `muster run`. Without any they are in none.
  absl::Status KeepContainer(const std::vector<std::string>& options) const;
  absl::StatusOr<std::vector<std::string>> Container() const;

  // A shell on this terminal; it is in the session as long as the process lives.
  absl::Status Enter(pid_t process, const std::string& terminal) const;
  // A shell has ended as its user wished.
  absl::Status Leave() const;

  struct Company {
    std::size_t shells = 0;
    Time typed = kNoTime;  // the newest key at one of their terminals
    bool left = false;     // one was left
    std::vector<std::string> terminals = {};
  };
  Company Look() const;

  const std::string& path() const { return path_; }

 private:
  explicit SessionPlace(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace muster::cli
