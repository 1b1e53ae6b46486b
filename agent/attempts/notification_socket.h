#pragma once

// The doorbell: a datagram socket on which supervisors say that a journal has grown.
//
// A datagram carries an attempt directory's name and nothing else; the journal is the truth and the
// doorbell only saves looking. A lost ring costs a delay, a forged one a look. Thread promise: the
// owner of the loop.

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/attempts/place/attempt_key.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class NotificationSocket {
 public:
  using Rung = std::function<void(const AttemptKey&)>;

  // Listens on the socket `path` and calls `rung` once for each attempt that rang since the last
  // round of the loop.
  static absl::StatusOr<std::unique_ptr<NotificationSocket>> Open(EventLoop& loop,
                                                                  const std::string& path,
                                                                  Rung rung);
  NotificationSocket(const NotificationSocket&) = delete;
  NotificationSocket& operator=(const NotificationSocket&) = delete;
  ~NotificationSocket();

 private:
  NotificationSocket(EventLoop& loop, UniqueFd socket, Rung rung)
      : loop_(loop), socket_(std::move(socket)), rung_(std::move(rung)) {}
  void Answer();

  EventLoop& loop_;
  UniqueFd socket_;
  Rung rung_;
};

}  // namespace muster::agent
