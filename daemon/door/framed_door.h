#pragma once

// Calls in plain frames over a unix socket, for clients that live for one call: a gRPC channel
// costs such a client more than its call does.
//
// A connection that begins with kMagic is ours; one whose first byte is another is handed on
// unread, to gRPC; one that begins like kMagic and goes on otherwise is closed. Then come requests:
// a length, the length of the method's name, that name, and the request's message. Each is
// answered, before the next is read, by a length, a status code, the length of its text, that text,
// and the reply's message; the first answer comes after kMagic. Where a method gives many messages,
// each comes as an answer whose code is kMoreComes, before the answer that ends them. Numbers are
// four bytes, the lowest first.
//
// Thread promise: Take from any thread, answers from any, Start, Stop and the destructor from one.
// Invariants: it never waits but for events, and never for a client; what a client sends is bounded
// by kRequestBytesMax; a call is served even when its client has gone, but a stream of messages is
// told so.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "scheduler/runtime/mutex.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {

class FramedDoor {
 public:
  static constexpr std::string_view kMagic = "MUSTER1\n";
  static constexpr std::size_t kRequestBytesMax = std::size_t{16} << 20U;
  static constexpr std::uint32_t kMoreComes = 1000;  // no status of gRPC's

  // A reply's message, or a status code and its text.
  using Answer = std::function<void(std::uint32_t code, std::string text, std::string reply)>;
  // Serves the call and answers once, from any thread.
  using Serve = std::function<void(std::string method, std::string request, Answer answer)>;
  // Where a call's messages go. Send and End from any thread; what they are given to call is called
  // once, on the door's thread or in Stop, and never within them.
  class Outlet {
   public:
    Outlet() = default;
    Outlet(const Outlet&) = delete;
    Outlet& operator=(const Outlet&) = delete;
    virtual ~Outlet() = default;
    // Sends a message; `taken` hears whether the client's socket took it. REQUIRES: the last one's
    // was called.
    virtual void Send(const std::string& message, std::function<void(bool ok)> taken) = 0;
    // Sends the status that ends the call, after what was sent; nothing may be sent any more.
    virtual void End(std::uint32_t code, const std::string& text, std::function<void()> done) = 0;
    // Has `gone` called when the client goes before the call has ended. It has to end the call,
    // unless that was done; later nothing may be sent. REQUIRES: called within ServeStream.
    virtual void WhenGone(std::function<void()> gone) = 0;
  };
  // Serves the call, on the door's thread; false: no method of that name gives many messages.
  using ServeStream = std::function<bool(const std::string& method, const std::string& request,
                                         const std::shared_ptr<Outlet>& outlet)>;
  using HandOver = std::function<void(UniqueFd)>;

  explicit FramedDoor(Serve serve, ServeStream stream = nullptr);
  ~FramedDoor();
  FramedDoor(const FramedDoor&) = delete;
  FramedDoor& operator=(const FramedDoor&) = delete;

  absl::Status Start();
  // Closes every connection; answers that come later go nowhere.
  void Stop();
  // Takes a connection with its first bytes unread; `other` gets it when it is not ours, on the
  // door's thread. REQUIRES: `other` is good until Stop.
  void Take(UniqueFd fd, HandOver other);

 private:
  struct Connection;
  using Shared = std::shared_ptr<Connection>;

  void Run();
  void OnEvent(std::uint64_t id, std::uint32_t events);
  // What becomes of a connection whose bytes were looked at.
  enum class Look : std::uint8_t { kMore, kOver };
  Look LookAtFirstBytes(Connection& connection);
  Look ReadFrame(const Shared& connection);
  Look TakeFrame(const Shared& connection);
  void Drop(std::uint64_t id);

  const Serve serve_;
  const ServeStream stream_;
  UniqueFd epoll_;
  UniqueFd over_;  // an eventfd
  std::thread thread_;

  Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t next_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<std::uint64_t, Shared> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
