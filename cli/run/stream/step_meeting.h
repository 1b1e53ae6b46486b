#pragma once

// What `muster run` does for a step's MPI: makes its supervisors known to one another, and tells
// all of them when a rank has failed the others.
//
// It is the one process that hears of every rank's end, however early or late its node was. Frames
// in, frames out, no sockets. Thread promise: one owner. Invariants: addresses go out only when
// every node has sent its hello, and to nodes of the same component; a component's first failure
// goes once to each of its nodes, to one that connects late, too.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/supervisor.pb.h"

namespace muster::cli {

// A frame to be sent to one supervisor.
struct StepReply {
  std::uint64_t connection = 0;
  wire::StepFrame frame;
};

class StepMeeting {
 public:
  using ConnectionId = std::uint64_t;

  // From now on a rank that ends badly ends all others, of every component.
  void EndOnBadExit() { end_on_bad_exit_ = true; }

  // A node of `component` is there.
  void Joined(ConnectionId connection, std::size_t component, const wire::StepHello& hello);
  // Its connection has ended, `early`: before its ranks had.
  void Left(ConnectionId connection, bool early);
  // A rank there has joined MPI: the nodes of its component need one another. The rank that has
  // ended without joining, if one has: it fails the others now.
  std::optional<wire::StepBroken> Asked(ConnectionId connection);
  // A rank there has ended. True when that fails the component's other ranks, now or since an
  // earlier word.
  bool Ended(ConnectionId connection, const wire::StepRankExit& exit);

  // What is to be sent now; `all_here`: every node of the step has sent its hello.
  std::vector<StepReply> Take(bool all_here);

 private:
  struct Component {
    bool asked = false;
    bool introduced = false;
    bool broken = false;
    std::optional<wire::StepBroken> unjoined;  // the first rank that ended without MPI
    std::optional<wire::StepBroken> failure;
    std::vector<wire::StepPeer> peers;
  };
  struct Node {
    std::size_t component = 0;
    std::string name;
  };

  void Fail(Component& component, wire::StepBroken failure);
  void TellAll(std::size_t component, const wire::StepFrame& frame);

  bool end_on_bad_exit_ = false;
  std::map<ConnectionId, Node> nodes_;
  std::map<std::size_t, Component> components_;
  std::vector<StepReply> replies_;
};

}  // namespace muster::cli
