#pragma once

// Many TCP connections over one pair of streams: both ends of `muster forward`.
//
// The end with a listener takes connections; the other opens one to its target for each. Each has a
// window, so one that is slow holds up no other, and no queue grows beyond the windows. Thread
// promise: one owner. Invariants: bytes of a connection arrive in order and whole, or the
// connection is seen to end; each direction ends by itself; what breaks the protocol ends Run().

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

class PortChannel {
 public:
  static constexpr std::size_t kWindowBytes = std::size_t{256} << 10;
  static constexpr std::size_t kConnectionsMax = 256;
  // Begins a connection to the target: a socket that does not block.
  using Opener = std::function<absl::StatusOr<UniqueFd>()>;

  // Reads what the other end says from `in`, and writes to `out`.
  PortChannel(UniqueFd in, UniqueFd out);
  PortChannel(const PortChannel&) = delete;
  PortChannel& operator=(const PortChannel&) = delete;
  ~PortChannel() = default;

  // Connections that come there go to the other end; call it at most once.
  void Listen(UniqueFd listener) { listener_ = std::move(listener); }
  // Connections from the other end go there.
  void OpenWith(Opener opener) { opener_ = std::move(opener); }
  // Tells the other end that its connections will be taken.
  void SayReady();
  // Called when the other end says so.
  void OnReady(std::function<void()> ready) { ready_ = std::move(ready); }

  // Ends Run().
  void Leave() { gone_ = true; }

  // Until the other end goes, or `stop` can be read (below 0: never).
  absl::Status Run(int stop);

 private:
  enum class Kind : std::uint8_t { kReady, kOpen, kData, kTaken, kEnd, kReset };
  struct Link {
    UniqueFd fd;
    bool connecting = false;
    std::string to_write;               // to the socket
    std::size_t window = kWindowBytes;  // what may be sent of it
    std::size_t taken = 0;              // written, and not yet told
    bool read_ended = false;            // the socket's own end was told
    bool write_ends = false;            // the other end has ended
    bool write_ended = false;           // and so has the socket
  };
  using Id = std::uint32_t;

  void Say(Id id, Kind kind, std::string_view data = {});
  [[nodiscard]] std::vector<pollfd> Watched(int stop, std::vector<Id>* ids) const;
  void Accept();
  absl::Status ReadFrames();
  absl::Status TakeFrames();
  absl::Status Take(Id id, Kind kind, std::string_view data);
  void Open(Id id);
  void Flush();
  void Serve(Id id, short events);
  void Write(Id id, Link& link);
  bool Read(Id id, Link& link);
  void Reset(Id id);

  UniqueFd in_;
  UniqueFd out_;
  UniqueFd listener_;
  Opener opener_;
  std::function<void()> ready_;
  std::map<Id, Link> links_;
  Id next_ = 1;
  std::string received_;
  std::string queued_;
  bool gone_ = false;  // the other end, or we leave
};

}  // namespace muster::cli
