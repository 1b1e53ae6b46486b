#pragma once

// Collectives among the supervisors of a step: each brings bytes, and all get the bytes of all.
//
// What a subtree brought goes up the tree of the collective's members once it is complete, and the
// whole comes down again. The state machine alone: it sends through a function and is handed what
// comes. Thread promise: one owner. Invariants: (1) a collective ends at every member with the same
// bytes, once each member has entered it; (2) those with the same members end in the order in which
// they were entered; (3) what is kept of others' bytes is bounded by kBytesMax.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "proto/supervisor.pb.h"

namespace muster::agent {

class Gathering {
 public:
  // No collective brings more in all.
  static constexpr std::size_t kBytesMax = std::size_t{48} << 20;
  // Sends a gather or a result to the supervisor at a position.
  using Send = std::function<void(std::uint32_t to, wire::PeerFrame frame)>;
  using Done = std::function<void(const std::string& data)>;

  Gathering(std::uint32_t self, Send send) : self_(self), send_(std::move(send)) {}

  // Our ranks among `members` (a name that all members give it) have entered with `data`.
  // `positions` are the members' supervisors, ascending, ourselves among them. `done` may be called
  // before this returns. ResourceExhausted: more than kBytesMax.
  absl::Status Enter(const std::string& members, std::vector<std::uint32_t> positions,
                     std::string data, Done done);

  // What came from `from`. An error says how it breaks the protocol; the step cannot go on.
  absl::Status Take(std::uint32_t from, const wire::PeerGather& gather);
  absl::Status Take(std::uint32_t from, const wire::PeerResult& result);

  // True when a collective that we have entered cannot end without one of those that `gone` names.
  [[nodiscard]] bool WaitsFor(const std::function<bool(std::uint32_t)>& gone) const;

 private:
  using Key = std::pair<std::string, std::uint64_t>;  // members, number
  struct Collective {
    bool entered = false;
    bool passed_on = false;  // what our subtree brought has gone to our parent
    std::vector<std::uint32_t> positions;
    std::string data;                           // ours
    std::map<std::uint32_t, std::string> came;  // from children
    Done done;
  };
  static constexpr std::size_t kOpenMax = 1024;
  static constexpr std::size_t kGroupsMax = 4096;

  absl::Status PassOn(const Key& key);
  void Finish(const Key& key, const std::string& data);

  const std::uint32_t self_;
  const Send send_;
  std::map<Key, Collective> open_;
  std::map<std::string, std::uint64_t> next_;  // number, by members
  std::size_t bytes_ = 0;                      // kept of others
};

}  // namespace muster::agent
