#pragma once

// A World (builders.h) whose administrator changes policy in few words.
//
// Thread promise: one thread. Invariants: World's; a change that must work and is refused fails the
// test with its message.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::testing {

class PolicyWorld : public World {
 public:
  void Add(PolicyKind kind, const std::string& name, std::vector<Assignment> said = {}) {
    Must(PolicyVerb::kAdd, kind, name, std::move(said));
  }
  void Set(PolicyKind kind, const std::string& name, std::vector<Assignment> said) {
    Must(PolicyVerb::kSet, kind, name, std::move(said));
  }
  void Delete(PolicyKind kind, const std::string& name) { Must(PolicyVerb::kDelete, kind, name); }

  std::string DeleteRefused(PolicyKind kind, const std::string& name) {
    const Turn turn = Take(ChangePolicy{PolicyVerb::kDelete, kind, name, {}, ada});
    EXPECT_FALSE(turn.status.ok());
    return std::string(turn.status.message());
  }
  // What changed, in the words of the events.
  std::string History() const {
    std::string text;
    for (const Event& event : events) {
      if (const auto* change = std::get_if<PolicyChanged>(&event)) {
        text += (text.empty() ? "" : "; ") + change->text;
      }
    }
    return text;
  }
  // Why the submission is refused.
  std::string Refused(JobSpec spec) {
    const Turn turn = Take(SubmitJob{"refused", std::move(spec), Script()});
    EXPECT_FALSE(turn.status.ok());
    return std::string(turn.status.message());
  }
  // "Running", or why the job waits: "QOSGrpCpuLimit: the sentence".
  std::string Standing(JobId job) const {
    const Job* live = state.FindJob(job);
    if (live == nullptr || live->attempt.has_value()) {
      return live == nullptr ? "gone" : "running";
    }
    const Reason reason = ReasonFor(job);
    return std::string(Name(reason.kind)) + ": " + ToSentence(reason);
  }
  JobId Run(ResourceRequest request, const std::string& qos = "", const std::string& account = "",
            const std::string& partition = "", int minutes = 0) {
    JobSpec spec = Spec(std::move(request));
    spec.qos = qos;
    spec.account = account;
    spec.partition = partition;
    spec.time_limit = std::chrono::minutes(minutes);
    const JobId job = Submit(std::move(spec));
    Schedule();
    return job;
  }
  void End(JobId job) {
    const Attempt attempt = *state.FindJob(job)->attempt;
    for (const NodeAllocation& part : attempt.allocation.nodes) {
      TellStarted(part.node, job);
      TellEnded(part.node, job, 2);
    }
  }

 private:
  void Must(PolicyVerb verb, PolicyKind kind, const std::string& name,
            std::vector<Assignment> said = {}) {
    const Turn turn = Take(ChangePolicy{verb, kind, name, std::move(said), ada});
    EXPECT_TRUE(turn.status.ok()) << turn.status;
  }
};

}  // namespace muster::testing
