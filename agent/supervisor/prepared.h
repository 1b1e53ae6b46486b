#pragma once

// A supervisor in advance: a process of the agent's that has loaded, relocated and used everything
// once, and of which each attempt's supervisor is a copy. It costs a fork where a start would cost
// an exec, the dynamic loader and the tables of all messages.
//
// Thread promise: main's; the process has one thread. Invariants: (1) a copy is a child of the
// agent, as one that was executed: nothing here waits for it, and the end of this process is none
// of its; (2) it ends with the agent, whose end of the socket closes then; (3) what it has read or
// opened of one attempt no later copy sees, because a copy reads and opens for itself.

#include <optional>
#include <string>

namespace muster::agent {

// What a copy is for, as on a command line.
struct CopyPurpose {
  std::string what;  // "--dir" or "--epilog"
  std::string directory;
};

// Makes the copies that the agent asks for on `socket` (copy_request.h). Returns in each copy, with
// its purpose, and with none once the agent is gone.
std::optional<CopyPurpose> ServeCopies(int socket);

// The whole of such a process, whose arguments are main's; the agent is at its descriptor 3. A copy
// does not come back.
int MakeCopies(int argc, char** argv);

}  // namespace muster::agent
