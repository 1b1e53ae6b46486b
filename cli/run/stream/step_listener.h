#pragma once

// The socket at which `muster run` waits for its step's supervisors, and the connections.
//
// Lives on an EventLoop; a StepSession decides what frames mean. A unix socket lies in a directory
// of its own with mode 0700 that goes when the listener goes; TCP takes a port of the kernel's
// choice, and all that comes and goes by it is sealed (sealed_stream.h). Thread promise: the loop's
// owner. Invariants: at most kQueuedBytesMax are queued for a peer before WritesPending() asks the
// caller to stop; a peer that breaks the protocol or shows no token, or none within kStrangerTime,
// is closed; of such at most kStrangersMax are there at a time; one that takes nothing any more is
// read to its end all the same.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/run/stream/step_frame.h"
#include "cli/run/stream/step_io.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/sealed/sealed_stream.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// By which NIC supervisors are to call, and how what they are sent is marked.
struct ListenBy {
  std::string device;      // "": any
  std::string address;     // that one's, which they are told; "": this host's name
  std::uint32_t dscp = 0;  // 0: as other packets
};

class StepListener {
 public:
  static constexpr std::size_t kQueuedBytesMax = std::size_t{1} << 20;
  static constexpr std::size_t kStrangersMax = 256;
  static constexpr std::chrono::seconds kStrangerTime{10};

  // For a controller on this machine by unix socket, in $XDG_RUNTIME_DIR where it can be used, else
  // by TCP.
  static absl::StatusOr<std::unique_ptr<StepListener>> ListenFor(EventLoop& loop, bool local,
                                                                 const Environment& environment,
                                                                 const ListenBy& by = {});
  // Listens on a unix socket under `directory` ($XDG_RUNTIME_DIR or /tmp).
  static absl::StatusOr<std::unique_ptr<StepListener>> ListenUnix(EventLoop& loop,
                                                                  const std::string& directory);
  // Listens on every interface of this host, or on that one where we may; under the name by which
  // other hosts know it, or that address.
  static absl::StatusOr<std::unique_ptr<StepListener>> ListenTcp(EventLoop& loop,
                                                                 const ListenBy& by = {});
  StepListener(const StepListener&) = delete;
  StepListener& operator=(const StepListener&) = delete;
  ~StepListener();

  // "unix:PATH" or "HOST:PORT": what StepIo::address is to say.
  const std::string& address() const { return address_; }

  // Begins to accept. `session` outlives the listener; `changed` is called after every frame and
  // every end of a connection.
  absl::Status Start(StepSession* session, std::function<void()> changed);

  // Sends `frame` to every supervisor that has sent its hello.
  void SendToAll(const wire::StepFrame& frame);
  // From now on input goes to the first node of the step alone, which hands it on.
  void SendInputToFirst() { first_only_ = true; }
  // Sends what the session has to say; also after it learned how many nodes to expect.
  void SendReplies();
  // True while some peer that takes input has more queued than it should, or no room for more.
  bool WritesPending() const;
  // True while what SendToAll() sends as input may be read by a rank.
  bool TakesInput() const;

 private:
  struct Peer {
    UniqueFd fd;
    FrameReader reader;
    SealedAnswer seal;  // for TCP
    std::string queued;
    bool writing = false;  // EPOLLOUT is watched
    bool deaf = false;     // it takes nothing any more; what it has sent is still to be read
  };
  using Id = StepSession::ConnectionId;

  StepListener(EventLoop& loop, UniqueFd fd, std::string address, std::string directory)
      : loop_(loop),
        fd_(std::move(fd)),
        address_(std::move(address)),
        directory_(std::move(directory)),
        timers_(loop) {}

  [[nodiscard]] bool sealed() const { return directory_.empty(); }
  void Accept();
  // Takes strangers, or leaves them in the kernel's queue until there is room.
  void CountStrangers();
  void Queue(Peer& peer, const std::string& frame);
  void OnReady(Id id, std::uint32_t events);
  bool ReadFrom(Id id, Peer& peer);
  absl::Status TakeFrames(Id id, Peer& peer);
  void WriteTo(Peer& peer);
  [[nodiscard]] bool TakesInput(Id id) const;
  void Close(Id id);

  EventLoop& loop_;
  const UniqueFd fd_;
  const std::string address_;
  const std::string directory_;  // removed at the end; empty for TCP
  StepSession* session_ = nullptr;
  std::function<void()> changed_;
  bool first_only_ = false;
  Id next_ = 1;
  std::map<Id, Peer> peers_;
  std::set<std::string> seen_;  // the beginnings of sealed streams: none comes twice
  bool accepting_ = true;
  OwnTimers timers_;
};

}  // namespace muster::cli
