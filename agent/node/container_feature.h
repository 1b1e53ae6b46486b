#pragma once

// Whether this node can run jobs in containers: what its feature `containers` says.
//
// Asked once, before the agent serves. Invariant: no process is left.

#include <string>

namespace muster::agent {

struct ContainersFound {
  std::string runtime;  // the OCI runtime's path; "": no containers here
  std::string why_not;  // one line
};

// `runtime`: its name, looked for where system programs are, or its path; "": the site wants none.
// `program`: muster-container, "" where it is not installed.
ContainersFound FindContainers(const std::string& runtime, const std::string& program);

}  // namespace muster::agent
