#include "tests/unit/scheduler/core/policy_world.h"

namespace muster::core::testing {

void PolicyWorld::Add(PolicyKind kind, const std::string& name, std::vector<Assignment> said) {
  Must(PolicyVerb::kAdd, kind, name, std::move(said));
}

void PolicyWorld::Set(PolicyKind kind, const std::string& name, std::vector<Assignment> said) {
  Must(PolicyVerb::kSet, kind, name, std::move(said));
}

void PolicyWorld::Delete(PolicyKind kind, const std::string& name) {
  Must(PolicyVerb::kDelete, kind, name);
}

std::string PolicyWorld::DeleteRefused(PolicyKind kind, const std::string& name) {
  const Transition transition = Take(ChangePolicy{PolicyVerb::kDelete, kind, name, {}, root});
  EXPECT_FALSE(transition.status.ok());
  return std::string(transition.status.message());
}

std::string PolicyWorld::History() const {
  std::string text;
  for (const Event& event : events) {
    if (const auto* change = std::get_if<PolicyChanged>(&event)) {
      text += (text.empty() ? "" : "; ") + change->text;
    }
  }
  return text;
}

std::string PolicyWorld::Refused(JobSpec spec) {
  const Transition transition = Take(SubmitJob{"refused", std::move(spec), Script()});
  EXPECT_FALSE(transition.status.ok());
  return std::string(transition.status.message());
}

std::string PolicyWorld::StatusOf(JobId job) const {
  const Job* live = state.FindJob(job);
  if (live == nullptr || live->attempt.has_value()) {
    return live == nullptr ? "gone" : "running";
  }
  const Reason reason = ReasonFor(job);
  return std::string(Name(reason.kind)) + ": " + ToSentence(reason);
}

JobId PolicyWorld::Run(ResourceRequest request, const std::string& qos, const std::string& account,
                       const std::string& partition, int minutes) {
  JobSpec spec = Spec(std::move(request));
  spec.qos = qos;
  spec.account = account;
  spec.partition = partition;
  spec.time_limit = std::chrono::minutes(minutes);
  const JobId job = Submit(std::move(spec));
  Schedule();
  return job;
}

void PolicyWorld::End(JobId job) {
  const Attempt attempt = *state.FindJob(job)->attempt;
  for (const NodeAllocation& part : attempt.allocation.nodes) {
    TellStarted(part.node, job);
    TellEnded(part.node, job, 2);
  }
}

void PolicyWorld::Must(PolicyVerb verb, PolicyKind kind, const std::string& name,
                       std::vector<Assignment> said) {
  const Transition transition = Take(ChangePolicy{verb, kind, name, std::move(said), root});
  EXPECT_TRUE(transition.status.ok()) << transition.status;
}

}  // namespace muster::core::testing
