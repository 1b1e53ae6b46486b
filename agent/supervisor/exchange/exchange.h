#pragma once

// What the supervisors of one step tell one another for their PMIx servers: fences and direct
// modex.
//
// Each listens from the beginning; once the first rank has joined MPI all receive the others'
// addresses (Meet), and each calls its parent in the tree. Messages before a connection stands wait
// for it. Thread promise: the loop's thread. Invariants: (1) only holders of the attempt's secret
// are believed, and of them only tree neighbours speak; (2) when a neighbour has died, or has left
// while our ranks wait for it, on_broken is called, once; (3) garbage and strangers are refused and
// logged, and change nothing.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/exchange/exchange_tree.h"
#include "agent/supervisor/exchange/gathering.h"
#include "agent/supervisor/exchange/peer_connection.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// Why a step cannot go on.
struct StepBreak {
  std::string text;
  std::optional<std::uint32_t> rank;  // whose end it was; absent: a supervisor's
  ExitStatus status;                  // the rank's
  bool aborted = false;               // it called MPI_Abort
};

struct ExchangeConfig {
  PeerSelf self;
  std::vector<std::string> nodes;  // names, by position
  bool one_machine = false;
  PeerTraffic traffic = {};
};

struct ExchangeHandlers {
  std::function<void(const StepBreak&)> on_broken;
  // Another node wants what our rank `rank` has published: AnswerModex with the same words.
  std::function<void(std::uint32_t asker, std::uint64_t id, std::uint32_t rank)> on_asked;
};

class Exchange {
 public:
  using ModexDone = std::function<void(const std::optional<std::string>& data)>;

  // Begins to listen. `closing` has the connections after the exchange, until the neighbours have
  // heard what was said.
  static absl::StatusOr<std::unique_ptr<Exchange>> Open(EventLoop& loop, ClosingSockets& closing,
                                                        const Logger& log, ExchangeConfig config,
                                                        ExchangeHandlers handlers);
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  // Where we can be called.
  [[nodiscard]] const std::vector<std::string>& addresses() const { return addresses_; }
  // Where each node can be called, by position. Only the first call counts.
  void Meet(const std::vector<std::vector<std::string>>& addresses);

  // See Gathering::Enter.
  void Fence(const std::string& members, std::vector<std::uint32_t> positions, std::string data,
             Gathering::Done done);
  // Asks the supervisor at `position` what its rank `rank` has published; `done` gets nothing when
  // it cannot be had.
  void AskModex(std::uint32_t position, std::uint32_t rank, ModexDone done);
  void AnswerModex(std::uint32_t asker, std::uint64_t id, const std::optional<std::string>& data);
  // Tells the others that the step is broken.
  void Break(const StepBreak& why);
  // Our ranks have ended: nothing is taken any more. `told`: because the attempt was ordered to
  // end, as it will be on the other nodes.
  void Leave(bool told);

 private:
  struct Edge {
    std::unique_ptr<PeerConnection> connection;
    std::deque<wire::PeerFrame> waiting;  // until it is proved
    bool proved = false;                  // at some time
    bool left = false;                    // or was never there
    bool told = false;                    // it left because it was ordered to
  };

  Exchange(EventLoop& loop, ClosingSockets& closing, const Logger& log, ExchangeConfig config,
           ExchangeHandlers handlers);
  void Accept();
  void OnCallerProved(std::uint64_t number);
  void OnProved(std::uint32_t neighbour);
  void OnFrame(std::uint32_t neighbour, const wire::PeerFrame& frame);
  void OnClosed(std::uint32_t neighbour, const absl::Status& why);
  void Handle(const wire::PeerFrame& frame);
  void TakeBreak(std::uint32_t neighbour, const wire::PeerBreak& message);
  void TakeLeave(std::uint32_t neighbour, const wire::PeerLeave& message);
  void TakeAnswer(const wire::PeerModexAnswer& answer);
  void Send(std::uint32_t to, wire::PeerFrame frame);
  void SendTo(std::uint32_t neighbour, const wire::PeerFrame& frame);
  void TellNeighbours(const wire::PeerFrame& frame, std::optional<std::uint32_t> except);
  void CheckWaiting();
  void Broken(const StepBreak& why);
  void Lost(std::uint32_t neighbour, const std::string& why);
  void Refuse(const absl::Status& why);
  void Bury(std::unique_ptr<PeerConnection> connection);
  void DropQuestions(std::uint32_t neighbour);
  [[nodiscard]] PeerHandlers HandlersOf(std::uint32_t neighbour);

  EventLoop& loop_;
  ClosingSockets& closing_;
  const Logger& log_;
  const ExchangeConfig config_;
  const ExchangeHandlers handlers_;
  const ExchangeTree tree_;
  Gathering gathering_;
  UniqueFd listener_;
  std::vector<std::string> addresses_;
  std::map<std::uint32_t, Edge> edges_;                               // by neighbour
  std::map<std::uint64_t, std::unique_ptr<PeerConnection>> callers_;  // not proved yet
  std::uint64_t next_caller_ = 1;
  struct Question {
    std::uint32_t position = 0;
    ModexDone done;
  };
  std::map<std::uint64_t, Question> asked_;
  std::uint64_t next_ask_ = 1;
  std::optional<StepBreak> broken_;
  std::uint32_t refusals_ = 0;
  bool met_ = false;
  bool left_ = false;
  std::shared_ptr<const bool> alive_;  // goes with this object: what was posted then does nothing
};

}  // namespace muster::agent
