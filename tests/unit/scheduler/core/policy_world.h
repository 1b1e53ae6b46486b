#pragma once

// A World (builders.h) whose administrator changes policy in few words.
//
// Thread promise: one thread. Invariants: World's; a change that must work and is refused fails the
// test with its message.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {

class PolicyWorld : public World {
 public:
  const User root{0, 0, "root"};

  void Add(PolicyKind kind, const std::string& name, std::vector<Assignment> said = {});
  void Set(PolicyKind kind, const std::string& name, std::vector<Assignment> said);
  void Delete(PolicyKind kind, const std::string& name);

  std::string DeleteRefused(PolicyKind kind, const std::string& name);
  // What changed, in the words of the events.
  std::string History() const;
  // Why the submission is refused.
  std::string Refused(JobSpec spec);
  // "Running", or why the job waits: "QOSGrpCpuLimit: the sentence".
  std::string StatusOf(JobId job) const;
  JobId Run(ResourceRequest request, const std::string& qos = "", const std::string& account = "",
            const std::string& partition = "", int minutes = 0);
  void End(JobId job);

 private:
  void Must(PolicyVerb verb, PolicyKind kind, const std::string& name,
            std::vector<Assignment> said = {});
};

}  // namespace muster::core::testing
