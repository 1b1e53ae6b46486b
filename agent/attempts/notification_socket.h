#pragma once

// The notification socket: datagrams by which supervisors say that a journal has grown.
//
// A datagram carries an attempt directory's name; the journal is the truth and the datagram only
// saves looking. A lost one costs a delay, a forged one a look. After a line end it may carry an
// image that a container of the attempt wants, for the controller. Thread promise: the owner of the
// loop.

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
  using Notified = std::function<void(const AttemptKey&)>;
  // `wanted`: a wire::ImageWanted.
  using Wanted = std::function<void(const AttemptKey&, const std::string& wanted)>;

  // Listens on the socket `path` and calls `notified` once for each attempt named since the last
  // round of the loop, and `wanted` for each image.
  static absl::StatusOr<std::unique_ptr<NotificationSocket>> Open(EventLoop& loop,
                                                                  const std::string& path,
                                                                  Notified notified, Wanted wanted);
  NotificationSocket(const NotificationSocket&) = delete;
  NotificationSocket& operator=(const NotificationSocket&) = delete;
  ~NotificationSocket();

 private:
  NotificationSocket(EventLoop& loop, UniqueFd socket, Notified notified, Wanted wanted)
      : loop_(loop),
        socket_(std::move(socket)),
        notified_(std::move(notified)),
        wanted_(std::move(wanted)) {}
  void Answer();

  EventLoop& loop_;
  UniqueFd socket_;
  Notified notified_;
  Wanted wanted_;
};

}  // namespace muster::agent
