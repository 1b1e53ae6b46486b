#include "daemon/agents/node_questions.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::daemon {
namespace {

absl::Status NotConnected(const std::string& node) {
  return absl::UnavailableError(
      absl::StrCat("node ", node, ": its agent is not connected; see muster nodes ", node));
}

absl::Status NotInTime(const std::string& node) {
  return absl::DeadlineExceededError(absl::StrCat(
      "node ", node, ": no answer within ", NodeQuestions::kWithin.count(),
      " s: a file system there may hang, or its agent may be older than this controller"));
}

}  // namespace

void NodeQuestions::Ask(Question question, const Answered& answered) {
  std::uint64_t number = 0;
  bool full = false;
  {
    const MutexLock lock(&mutex_);
    const auto user = of_user_.find(question.uid);
    full = open_.size() >= kOpenMax || (user != of_user_.end() && user->second >= kOpenOfUserMax);
    if (!full) {
      ++of_user_[question.uid];
      number = ++last_;
      open_.emplace(number, Open{question.node, question.name, question.uid,
                                 std::chrono::steady_clock::now() + kWithin, answered});
    }
  }
  if (full) {
    answered(absl::ResourceExhaustedError(
        "too many questions to nodes are open: try again when some are answered"));
    return;
  }
  question.body.set_number(number);
  if (send_(question.node, question.body)) {
    return;
  }
  for (const Open& open : TakeOut([number](auto each, const Open&) { return each == number; })) {
    open.answered(NotConnected(open.name));
  }
}

NodeQuestions::Open NodeQuestions::Close(Opens::iterator open) {
  Open closed = std::move(open->second);
  open_.erase(open);
  if (const auto user = of_user_.find(closed.uid); --user->second == 0) {
    of_user_.erase(user);
  }
  return closed;
}

template <class Over>
std::vector<NodeQuestions::Open> NodeQuestions::TakeOut(Over over) {
  std::vector<Open> out;
  const MutexLock lock(&mutex_);
  for (auto it = open_.begin(); it != open_.end();) {
    const auto at = it++;
    if (over(at->first, at->second)) {
      out.push_back(Close(at));
    }
  }
  return out;
}

void NodeQuestions::Take(NodeId node, const wire::NodeQuestionReply& answer) {
  const std::vector<Open> closed = TakeOut([&](std::uint64_t number, const Open& open) {
    return number == answer.number() && open.node == node;
  });
  for (const Open& open : closed) {
    if (answer.code() == 0) {
      open.answered(answer);
    } else {
      open.answered(absl::Status(static_cast<absl::StatusCode>(answer.code()),
                                 absl::StrCat("node ", open.name, ": ", answer.text())));
    }
  }
}

void NodeQuestions::Lose(NodeId node) {
  for (const Open& open :
       TakeOut([node](std::uint64_t, const Open& each) { return each.node == node; })) {
    open.answered(NotConnected(open.name));
  }
}

void NodeQuestions::Expire(std::chrono::steady_clock::time_point now) {
  for (const Open& open :
       TakeOut([now](std::uint64_t, const Open& each) { return each.until <= now; })) {
    open.answered(NotInTime(open.name));
  }
}

}  // namespace muster::daemon
