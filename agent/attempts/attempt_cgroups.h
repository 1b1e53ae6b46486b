#pragma once

// Where attempts' control groups go: a directory of ours in the cgroup v2 tree, if one can be made,
// and what can be held below it.
//
// Looked for below the agent's own group, so that an ordinary user's delegated subtree serves as
// well as root's, or where --cgroup-root says. Controllers are passed on to it, for which Muster's
// own daemons step aside into a group of their own (no group may both have processes and pass
// controllers on). At least it gives cgroup.kill: no process of an attempt escapes its end. The
// supervisor makes the attempt's own directory, the agent removes it. Thread promise: the owner
// thread's.

#include <string>

#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/limit_set.h"

namespace muster::agent {

class AttemptCgroups {
 public:
  // None: every path is empty.
  AttemptCgroups() : limits_(NoLimits("no control groups")) {}

  // Makes <root>/muster-<name>; `root` is a directory of the cgroup v2 tree, or, without a leading
  // slash, a group's path below its mount; empty: our own group. An error says why there can be
  // none.
  static absl::StatusOr<AttemptCgroups> Make(const std::string& name, const std::string& root);

  // The directory for an attempt of that name; "" where there are none.
  std::string PathFor(const std::string& attempt) const;

  // Where supervisors are to go when the groups are not below the agent's own: in a unit of their
  // own, the agent's can be stopped and started again however full of jobs the node is. Empty: they
  // stay with the agent.
  const std::string& aside() const { return aside_; }

  // What can be held in those groups.
  const LimitSet& limits() const { return limits_; }

  // Removes the agent's directory, and the supervisors', when nothing is in them any more.
  void RemoveIfEmpty() const;

 private:
  AttemptCgroups(std::string path, LimitSet limits)
      : path_(std::move(path)), limits_(std::move(limits)) {}
  std::string path_;
  std::string aside_;
  LimitSet limits_;
};

// Says, in one line, what is wrong with a directory that the operator named as the root.
absl::Status CheckCgroupRoot(const std::string& root);

}  // namespace muster::agent
