#pragma once

// Says to each node that wants a registry's image from which other node it comes, so that a
// registry is asked once for a cluster and user.
//
// Who wants one listens, and says where; one question to an agent is the answer: a node that has
// the image, or is to have it, gives it; or the own node says that it is to be fetched. Thread
// promise: safe from any thread; nothing waits. Invariants: (1) an agent speaks for attempts of its
// own node alone; (2) an image goes between processes of one user; (3) nothing of it is in the
// state: after a change of leaders an image may be fetched once more.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "daemon/agents/node_questions.h"
#include "daemon/agents/share_book.h"
#include "daemon/controller/controller.h"
#include "proto/agent.pb.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class ImageShares {
 public:
  // All that is referred to outlives it.
  ImageShares(Controller& controller, NodeQuestions& questions, const Logger& log)
      : controller_(controller), questions_(questions), log_(log) {}
  ImageShares(const ImageShares&) = delete;
  ImageShares& operator=(const ImageShares&) = delete;

  // A container of an attempt on that node wants an image.
  void WantForAttempt(NodeId node, const wire::AttemptImageWanted& wanted);
  // A fetch of the user's on that node, ahead of a job, does.
  void WantForUser(NodeId node, const User& user, const wire::ImageWanted& wanted);

  [[nodiscard]] NodeQuestions& questions() { return questions_; }

 private:
  struct Wish {
    NodeId node;
    User user;
    wire::ImageWanted wanted;
    int tries = 0;  // with nodes that could not give it
  };
  // A wish, and who is to answer it how.
  struct Answer {
    wire::ImageVerdict verdict = wire::IMAGE_VERDICT_FETCH;
    NodeId from;
    std::string name;    // of that node
    bool keeps = false;  // it is known to have the image
  };
  std::optional<Answer> Choose(const StateView& view, const Wish& wish);
  // What tells it, once what was seen is durable.
  Controller::Reply AnswerFrom(const StateView& view, const Wish& wish);
  void Decide(const Wish& wish);
  void Tell(const Wish& wish, const Answer& answer);

  Controller& controller_;
  NodeQuestions& questions_;
  const Logger& log_;
  Mutex mutex_;
  ShareBook book_ ABSL_GUARDED_BY(mutex_);
};

// Whether an agent's words are such as a process of ours says.
absl::Status CheckWanted(const wire::ImageWanted& wanted);

}  // namespace muster::daemon
