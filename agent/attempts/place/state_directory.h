#pragma once

// The agent's state directory: what one agent keeps from one run of itself to the next.
//
//   lock       held while an agent lives, so that two never share the directory
//   instance   32 hex digits, made once: tells the controller that the records are the same ones
//   epoch      the newest controller's term whose word was taken
//   boot       the boot id under which the attempts were last known good
//   doorbell   the socket on which supervisors notify the agent
//   pmix.UID   what supervisors have learned of libpmix for that user
//              (supervisor/pmix/pmix_pattern.h)
//   attempts/  one directory an attempt (supervisor/attempt/attempt_directory.h)
//   trash/     attempts on their way out
//   quarantine/ what users had in their attempts that is not theirs (user_space/remove_tree.h)
//
// With a place in memory the latter three lie there, and `attempts` is a link: a boot voids what
// they say. It takes them with it as well, so that then the records count as new ones.
//
// Thread promise: one owner. Invariants: (1) the epoch never falls; (2) an attempt's directory is
// renamed into trash/ before anything in it goes; (3) nothing that lies in trash/ keeps an agent
// from opening it.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/attempts/place/attempt_key.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {

class StateDirectory {
 public:
  // Makes what is missing and takes the lock. FailedPrecondition names another agent that holds it.
  // `memory`: where attempts may be kept in memory (memory_place.h), unless some lie elsewhere yet;
  // empty: they are not.
  static absl::StatusOr<StateDirectory> Open(const std::string& path,
                                             const std::string& memory = "");

  const std::string& path() const { return path_; }  // absolute
  const std::string& instance() const { return instance_; }
  const std::string& boot_id() const { return boot_id_; }
  Epoch epoch() const { return epoch_; }
  std::string notification_socket() const { return path_ + "/doorbell"; }

  // Remembers a newer epoch, durably; an older or equal one changes nothing.
  absl::Status RaiseEpoch(Epoch epoch);

  // True when the attempts were recorded under another boot of the machine: nothing of them runs.
  bool rebooted() const { return rebooted_; }
  // Says, durably, that the attempts now recorded belong to this boot.
  absl::Status ConfirmBoot();

  AttemptDirectory Attempt(const AttemptKey& key) const {
    return AttemptDirectory(path_ + "/attempts/" + ToString(key));
  }
  // Makes an attempt's directory, mode 0700. AlreadyExists when the attempt is known: making it is
  // the atomic act of taking an order.
  absl::Status MakeAttempt(const AttemptKey& key) const;
  // The attempts on record, by job and attempt.
  absl::StatusOr<std::vector<AttemptKey>> ListAttempts() const;
  std::string trash() const { return place_ + "/trash"; }
  // Moves an attempt's directory to the trash, and removes it there as far as that takes no going
  // into directories. False: something of it stays there (trash_sweep.h).
  absl::StatusOr<bool> RemoveAttempt(const AttemptKey& key);
  // Something lies in the trash.
  bool has_trash() const;

  // That the attempts' records are gone although the machine was not restarted; empty: they are
  // not.
  const std::string& loss() const { return loss_; }
  // Gives the place in memory back, if no attempt is on record. REQUIRES: nothing is called then.
  void Fold() const;

 private:
  StateDirectory(std::string path, LockFile lock);
  absl::Status ReadRecords();
  // Says where attempts lie, which is there then.
  absl::Status TakePlace(const std::string& memory);
  absl::Status MakeMemoryPlace(const std::string& memory);

  std::string path_;
  std::string place_;  // of attempts and trash: that path, or one in memory
  std::string loss_;
  LockFile lock_;
  std::string instance_;
  std::string boot_id_;
  Epoch epoch_;
  bool rebooted_ = false;
  std::uint64_t removed_ = 0;  // the highest number in the trash
};

}  // namespace muster::agent
