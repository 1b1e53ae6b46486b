#pragma once

// The controllers of a cluster: of several, the one that leads is called.
//
// Thread promise: safe from any thread; each call blocks its own. Invariants: with one controller
// nothing is asked but the call; of several, a standby that answers is called while none leads: it
// answers questions, and says of a change that it may be made again.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/call_channel.h"

namespace muster::cli {

class Controllers {
 public:
  explicit Controllers(const Address& address);

  // An error: an address that gRPC cannot take.
  absl::Status Open();
  // Makes one unary call ("Submit") while `patience` lasts: the bytes of its request, those of its
  // reply. `repeatable`: made twice it has one effect, so that of several controllers the next may
  // be asked when one has not answered in time.
  absl::StatusOr<std::string> Call(const char* method, const std::string& request, bool repeatable,
                                   std::chrono::milliseconds patience);
  // The one to open a stream to.
  CallChannel& Leader();
  // The only one; null: there are several, of which one has to be sought.
  CallChannel* Only() { return all_.size() == 1 ? all_.front().get() : nullptr; }

 private:
  void Seek();

  const Address address_;
  std::vector<std::unique_ptr<CallChannel>> all_;
  std::atomic<std::size_t> at_ = 0;  // of them, the one that is called
  std::atomic<bool> sought_ = false;
};

}  // namespace muster::cli
