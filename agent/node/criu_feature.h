#pragma once

// Whether this node can save and restore processes by CRIU: what its feature `criu` says.
//
// Asked once, before the agent serves: the program muster-criu saves and restores a process of its
// own, as the users are whose jobs run here. Invariant: it ends within its time limit, and leaves
// no process.

#include <string>

#include "scheduler/model/value/time.h"

namespace muster::agent {

struct CriuFound {
  std::string path;     // of CRIU; "": there is none, or it does not work here
  std::string why_not;  // "": there is none
};

// Looks along `path`, and where system programs are. `program`: muster-criu, "" where it is not
// installed. `as_user`: of root, as an ordinary user. The trial may take `limit`.
CriuFound FindCriu(const std::string& path, const std::string& program, bool as_user,
                   Duration limit);

}  // namespace muster::agent
