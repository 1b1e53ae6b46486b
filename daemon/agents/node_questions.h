#pragma once

// Questions that the controller asks agents about what runs on their nodes, until they are
// answered.
//
// Nothing of them is in the journal. Thread promise: safe from any thread; what was given to Ask is
// called once, on the thread that brings the answer or finds that there will be none, and must not
// wait. Invariants: (1) a question is answered by the node that was asked, or not at all; (2)
// kOpenOfUserMax of one user, and kOpenMax of all, are open at most; (3) one that is not answered
// in time is over.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/agent.pb.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class NodeQuestions {
 public:
  using Answered = std::function<void(absl::StatusOr<wire::NodeQuestionReply>)>;
  // Sends the question to the node's agent; false: it is not connected.
  using Sender = std::function<bool(NodeId node, const wire::NodeQuestion& question)>;
  // What is asked, and of whom.
  struct Question {
    NodeId node;
    std::string name;       // of the node, for people
    std::uint32_t uid = 0;  // who wants to know
    wire::NodeQuestion body;
  };

  explicit NodeQuestions(Sender send) : send_(std::move(send)) {}
  NodeQuestions(const NodeQuestions&) = delete;
  NodeQuestions& operator=(const NodeQuestions&) = delete;

  void Ask(Question question, const Answered& answered);
  // What the node's agent says.
  void Take(NodeId node, const wire::NodeQuestionReply& answer);
  // Nothing more comes from the node.
  void Lose(NodeId node);
  // Called now and then: ends what was asked too long ago.
  void Expire(std::chrono::steady_clock::time_point now);

  static constexpr std::size_t kOpenMax = 4096;
  static constexpr std::size_t kOpenOfUserMax = 1024;
  static constexpr std::chrono::seconds kWithin{20};

 private:
  struct Open {
    NodeId node;
    std::string name;
    std::uint32_t uid;
    std::chrono::steady_clock::time_point until;
    Answered answered;
  };
  using Opens = std::map<std::uint64_t, Open>;
  // Takes those out that `over` says; their callers are told outside of the lock.
  template <class Over>
  std::vector<Open> TakeOut(Over over);
  Open Close(Opens::iterator open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Sender send_;
  Mutex mutex_;
  // Begins elsewhere with each controller, so that an answer to an older one answers nothing.
  std::uint64_t last_ ABSL_GUARDED_BY(mutex_) =
      static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  Opens open_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint32_t, std::size_t> of_user_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
