#pragma once

// Calls to the controller in plain frames over its unix socket: what daemon/door/framed_door takes.
//
// Thread promise: safe from any thread; each call has a connection of its own while it lasts, and
// so has each stream of messages.
// Invariants: a call that fails may have had its effect; whoever tries again does so with the same
// token.

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/controller/framed_stream.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

class FramedChannel {
 public:
  explicit FramedChannel(std::string path) : path_(std::move(path)) {}

  // Makes sure that there is a connection; 0, or an errno of connect(2).
  int Connect();

  enum class Outcome : std::uint8_t {
    kAnswered,
    kBroken,   // the connection ended, or never was
    kLate,     // no answer in time
    kForeign,  // who listens there speaks no frames
  };
  struct Answer {
    Outcome outcome = Outcome::kBroken;
    std::uint32_t code = 0;  // of gRPC; 0: done
    std::string text;        // of a refusal
    std::string reply;       // the message
  };
  // Makes one call of the method ("Submit").
  Answer Call(std::string_view method, std::string_view request, std::chrono::milliseconds timeout);
  // Connects, and makes a call that gives many messages; null: none is reached.
  std::unique_ptr<FramedStream> Open(std::string_view method, std::string_view request);

 private:
  struct Line {
    UniqueFd fd;
    bool greeted = false;  // it has answered once
  };
  // Without a descriptor: there is none.
  Line TakeIdle();

  const std::string path_;
  std::mutex mutex_;
  std::vector<Line> idle_;
};

}  // namespace muster::cli
