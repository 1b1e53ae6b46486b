#pragma once

// The connection of a step to the `muster run` that watches it: frames out, frames in
// (proto/supervisor.proto).
//
// Thread promise: the loop's thread. Invariants: frames leave in the order they were given; a rank
// whose queued output reached kQueuedBytesMax is Full() until on_room names it; after on_lost
// nothing is sent and no handler is called any more; what was given before the end of a connection
// that is not lost reaches the client, whatever it has sent; what leaves this machine is sealed
// under the token (sealed_stream.h), which itself is never sent in the clear. A client that keeps
// within its room for input is read all the time, so that no signal waits behind input that no rank
// takes; one that sends more than its room is lost. Handlers must not destroy the connection.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/sealed/sealed_stream.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::wire {
class StepInput;
}  // namespace muster::wire

namespace muster::agent {

// Who connects: the first frame.
struct StepGreeting {
  std::uint32_t node_index = 0;
  std::string node;
  std::uint32_t ranks = 0;
  std::vector<std::string> exchange;  // where the step's other supervisors can call us
  std::uint32_t nodes = 0;            // how many have ranks of the step
  bool terminal = false;              // rank 0 is here and has one
};

// What the end of a rank means for the others.
struct ExitMeaning {
  bool with_others = false;  // it was ended because another rank had failed
  bool aborted = false;      // it called MPI_Abort or could not be started: its code is the step's
  bool fatal = false;        // others would wait for it for ever
  bool unjoined = false;     // it never joined MPI
};

struct StepConnectionHandlers {
  std::function<void(const std::string& data)> on_input;  // empty: end of file
  std::function<void(int signal)> on_signal;
  std::function<void(std::uint32_t rank)> on_room;  // a rank that was full may be read again
  std::function<void(const std::vector<StepPeerAddress>&)> on_peers;
  std::function<void(const StepBreak&)> on_broken;
  std::function<void()> on_lost;
  std::function<void(const TerminalSize&)> on_resize = {};
};

class StepConnection {
 public:
  static constexpr std::size_t kQueuedBytesMax = std::size_t{1} << 20;
  // Input that the client may send ahead of what the ranks take.
  static constexpr std::size_t kInputRoomBytes = std::size_t{1} << 20;

  // Greets over `socket`, which is connected (step_opening.h), and shows `token`. `closing` has the
  // socket from the connection's end until the client has heard that.
  static absl::StatusOr<std::unique_ptr<StepConnection>> Open(
      EventLoop& loop, ClosingSockets& closing, UniqueFd socket, const std::string& token,
      const StepGreeting& greeting, StepConnectionHandlers handlers);
  StepConnection(const StepConnection&) = delete;
  StepConnection& operator=(const StepConnection&) = delete;
  ~StepConnection();

  void SendOutput(std::uint32_t rank, bool error, std::string_view data);
  void SendExit(const RankExit& exit, const ExitMeaning& meaning);
  // Asks for on_peers, once all nodes are there.
  void SendMeet();
  void SendDone();
  // No rank here takes input any more: on_input is not called again, and a client that then stops
  // is told so.
  void EndInput();

  [[nodiscard]] bool Full(std::uint32_t rank) const;
  // Everything given was handed to the kernel.
  [[nodiscard]] bool Flushed() const { return outgoing_.empty(); }
  [[nodiscard]] bool lost() const { return lost_; }
  // While paused the client is granted no room for input, and one that does not keep within its
  // room is not read at all. Each pause has an end of its own.
  void PauseInput(bool paused);
  // Called once when the queue runs empty.
  void WhenFlushed(std::function<void()> done) { when_flushed_ = std::move(done); }
  // From now on `other` receives what this one receives; it is cut off when it lags.
  void CopyTo(StepConnection* other) { copies_.push_back(other); }
  void StopCopying(const StepConnection* other) { std::erase(copies_, other); }

 private:
  struct Outgoing {
    std::string bytes;
    std::uint32_t rank = 0;
    bool output = false;
  };

  StepConnection(EventLoop& loop, ClosingSockets& closing, UniqueFd socket,
                 StepConnectionHandlers handlers)
      : loop_(loop),
        closing_(closing),
        socket_(std::move(socket)),
        handlers_(std::move(handlers)) {}
  absl::Status Begin(const std::string& token);
  void Queue(Outgoing frame);
  void QueueHere(Outgoing frame);
  void Copy(const Outgoing& frame);
  void TakeInput(const wire::StepInput& input);
  [[nodiscard]] bool CountInput(const wire::StepInput& input);
  void GrantRoom();
  void TellInputEnded();
  void OnReady(std::uint32_t events);
  void Write();
  void Read();
  void TakeFrames();
  void Sent(const Outgoing& frame);
  void Lose();
  void UpdateEvents();

  EventLoop& loop_;
  ClosingSockets& closing_;
  UniqueFd socket_;
  StepConnectionHandlers handlers_;
  std::deque<Outgoing> outgoing_;
  std::size_t first_sent_ = 0;  // bytes of outgoing_.front() that are gone
  std::map<std::uint32_t, std::size_t> queued_;
  std::string incoming_;
  std::optional<SealedStream> seal_;  // absent: a unix socket
  std::vector<StepConnection*> copies_;
  int pauses_ = 0;
  bool input_ended_ = false;            // no rank takes any more
  bool client_stops_ = false;           // sending input when it is told that
  bool client_counts_ = false;          // it keeps within its room
  std::size_t room_ = kInputRoomBytes;  // what the client may still send
  std::size_t taken_ = 0;               // of its input, and not granted again yet
  bool lost_ = false;
  std::function<void()> when_flushed_;
};

}  // namespace muster::agent
