#pragma once

// What a step's frames mean: which nodes have connected, what the ranks wrote, how they ended.
//
// The state machine of `muster run`, without sockets: the listener hands it frames and asks it what
// to do. Thread promise: one owner. Invariants: no frame of a connection counts before its hello
// with the right token; the step is done when every expected node has reported so or is lost; the
// exit code is that of the first MPI_Abort, else the highest of all ranks that were not ended for
// another's failure, 128 + signal for signals.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/run/stream/step_meeting.h"
#include "proto/supervisor.pb.h"

namespace muster::cli {

// Whose output it is.
struct RankSource {
  std::string rank;  // "3", or "1.3" where there are several components
  std::uint32_t node_index = 0;
  std::string node;
};

// Where output goes: each call has bytes to write now.
struct StepSink {
  std::function<void(const RankSource& rank, bool error, std::string_view bytes)> write;
  std::function<void(const std::string& line)> tell;  // for the user, without "muster: "
};

class StepSession {
 public:
  using ConnectionId = std::uint64_t;
  // Input is sent in frames of at most so much.
  static constexpr std::size_t kInputChunkBytes = 32768;

  // `token` is what a supervisor must show; `label` prefixes each line with its rank.
  StepSession(std::string token, bool label, StepSink sink)
      : token_(std::move(token)), label_(label), sink_(std::move(sink)) {}

  // A further component of a heterogeneous job shows this token.
  void AddComponent(std::string token) { more_tokens_.push_back(std::move(token)); }
  // Those which supervisors of the step may have.
  [[nodiscard]] std::vector<std::string> tokens() const {
    std::vector<std::string> all = {token_};
    all.insert(all.end(), more_tokens_.begin(), more_tokens_.end());
    return all;
  }
  // The first rank that ends badly ends the others (--kill-on-bad-exit).
  void EndOnBadExit() {
    end_on_bad_exit_ = true;
    meeting_.EndOnBadExit();
  }
  // How many nodes have ranks of this step; until it is known, the step cannot be done.
  void Expect(std::uint32_t nodes) { expected_ = nodes; }
  // Until that is known, the first hello of a node gives it.
  void ExpectAsToldByNodes() { nodes_tell_ = true; }

  // A frame of `connection`. PermissionDenied or InvalidArgument: close it.
  absl::Status Take(ConnectionId connection, const wire::StepFrame& frame);
  // The connection has ended, whichever side closed it.
  void Closed(ConnectionId connection);

  // What is to be sent to supervisors after frames were taken and connections closed.
  std::vector<StepReply> TakeReplies() { return meeting_.Take(AllConnected()); }

  // True for a connection that showed the token and may be written to.
  bool Knows(ConnectionId connection) const { return nodes_.count(connection) != 0; }
  // A rank there may take input yet.
  bool TakesInput(ConnectionId connection) const {
    const auto node = nodes_.find(connection);
    return node != nodes_.end() && node->second.takes_input && !node->second.done;
  }
  // It takes kInputChunkBytes more of input now.
  bool HasInputRoom(ConnectionId connection) const {
    const auto node = nodes_.find(connection);
    return node != nodes_.end() && node->second.input_room >= kInputChunkBytes;
  }
  // So much input was sent to it.
  void SentInput(ConnectionId connection, std::size_t bytes);
  // It is the first node of its step.
  bool IsFirst(ConnectionId connection) const {
    const auto node = nodes_.find(connection);
    return node != nodes_.end() && node->second.index == 0;
  }
  // Every expected node has connected.
  bool AllConnected() const { return expected_.has_value() && joined_ >= *expected_; }
  bool AnyConnected() const { return joined_ > 0; }
  // Rank 0 is there and has a terminal.
  bool HasTerminal() const { return terminal_; }
  // How its ranks are: "ranks 0-1,3 run, 2 ended".
  std::string RanksText() const;
  // Every expected node is done or lost.
  bool Done() const { return expected_.has_value() && ended_ >= *expected_; }
  // True when a connection ended before its node was done: the end must come from elsewhere.
  bool Lost() const { return !lost_.empty(); }
  // Whose connections those were, for the user.
  std::string LostText() const;
  // Some rank has ended.
  bool AnyEnded() const { return !ended_ranks_.empty(); }
  // 0-255; of the ranks that have ended so far.
  int ExitCode() const { return exit_code_; }
  // Writes what is left of unfinished lines (label only).
  void Flush();

 private:
  struct Node {
    std::string name;
    bool done = false;
    bool takes_input = true;       // until it says that no rank there does any more
    std::uint64_t input_room = 0;  // bytes that may be sent to it
    std::size_t component = 0;
    std::uint32_t index = 0;  // among the step's, of its component
  };
  struct Unfinished {
    RankSource rank;
    std::string line;
  };

  absl::Status TakeHello(ConnectionId connection, const wire::StepFrame& frame);
  [[nodiscard]] std::optional<std::size_t> ComponentOf(std::string_view token) const;
  // "3", or "1.3" where there are several components.
  [[nodiscard]] std::string RankName(std::size_t component, std::uint32_t rank) const;
  void TakeOutput(const Node& node, const wire::StepOutput& output);
  void TakeExit(ConnectionId connection, const Node& node, const wire::StepRankExit& exit);
  void TakeMeet(ConnectionId connection, const Node& node);
  void CountExit(const wire::StepRankExit& exit, bool fails);
  void WriteLines(const RankSource& rank, bool error, std::string_view data);

  const std::string token_;
  const bool label_;
  const StepSink sink_;
  std::map<ConnectionId, Node> nodes_;
  std::vector<std::string> more_tokens_;
  std::map<std::pair<std::string, bool>, Unfinished> unfinished_;  // (rank, stderr) → line
  std::optional<std::uint32_t> expected_;
  bool nodes_tell_ = false;
  bool terminal_ = false;
  std::uint32_t ranks_ = 0;                                      // on the nodes that are there
  std::set<std::pair<std::size_t, std::uint32_t>> ended_ranks_;  // (component, rank)
  std::uint32_t joined_ = 0;
  std::uint32_t ended_ = 0;
  std::vector<std::string> lost_;  // nodes
  bool failure_told_ = false;
  bool end_on_bad_exit_ = false;
  int exit_code_ = 0;
  bool aborted_ = false;  // exit_code_ is an MPI_Abort's
  StepMeeting meeting_;
};

// Constant-time comparison: how far a wrong token matches cannot be measured.
bool SameToken(std::string_view a, std::string_view b);

}  // namespace muster::cli
