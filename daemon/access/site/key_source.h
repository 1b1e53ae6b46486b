#pragma once

// Where the keys of a site's issuer come from: a file, read again whenever it has changed, or an
// address that is asked every ten minutes, and sooner, but at most every half minute, when a token
// names a key that is not known.
//
// Thread promise: Now and Miss from any thread, without a wait for the network, which is a thread's
// of its own. Invariants: keys that were read stand until others are; what is not https, or not on
// this machine, is not asked, and no redirect is followed.

#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access/site/key_set.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// InvalidArgument when it is neither an absolute path nor such an address.
absl::Status CheckKeyPlace(const std::string& place);

class KeySource {
 public:
  static constexpr std::chrono::minutes kAskEvery{10};
  static constexpr std::chrono::seconds kAskLeast{30};

  // `place`: as CheckKeyPlace takes it. `log` outlives it.
  KeySource(std::string place, const Logger& log);
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;
  ~KeySource();

  // Never null; Unavailable while there are none.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<const KeySet>> Now() const;
  // A token named a key that is not there.
  void Miss() const;

 private:
  void Run();
  void Take(const absl::StatusOr<std::string>& text) const;
  void ReadChangedFile() const;

  const std::string place_;
  const Logger& log_;
  const bool remote_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable wake_;
  mutable std::shared_ptr<const KeySet> keys_;
  mutable struct stat read_ = {};  // of the file when it was read
  mutable std::string complained_;
  mutable bool missed_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::daemon
