#pragma once

// The listening end of a step's connection, as `muster run` plays it: takes frames and answers.
//
// Thread promise: one thread. Invariant: at most one connection at a time.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "proto/supervisor.pb.h"
#include "scheduler/runtime/sealed/sealed_stream.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class RunClient {
 public:
  // Listens on a unix socket at `path`.
  explicit RunClient(const std::string& path);
  // Listens by TCP for one who has `token`; its kernel holds little of what it has not taken yet.
  explicit RunClient(std::vector<std::string> tokens);
  // The address to put into StepIo.
  const std::string& Address() const { return address_; }

  // Waits for the supervisor and returns its hello; nothing after ten seconds.
  std::optional<wire::StepHello> Accept();
  // Whatever it says, as it would be on the network.
  std::string Sealed(const std::string& bytes) {
    return tokens_.empty() ? bytes : seal_.Seal(bytes).value();
  }
  // The next frame; nothing at the end of the connection or after ten seconds.
  std::optional<wire::StepFrame> Next();
  void Send(const wire::StepFrame& frame);
  void SendInput(const std::string& data);
  // Sends input until nothing of it has been taken for a while. The last frame is cut off.
  void SendInputUntilFull();
  void Close() { connection_.reset(); }
  // Frames up to and including StepDone, gathered; then the connection is closed.
  struct Gathered {
    std::string output;
    std::string error;
    std::string exits;  // "rank:code:signal " each
    bool done = false;
  };
  Gathered Gather();

 private:
  std::string address_;
  UniqueFd listener_;
  UniqueFd connection_;
  std::string buffer_;
  std::vector<std::string> tokens_;  // of a sealed stream; none: a unix socket
  std::set<std::string> seen_;
  SealedAnswer seal_;
};

}  // namespace muster::agent
