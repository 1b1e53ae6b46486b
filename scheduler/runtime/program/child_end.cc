#include "scheduler/runtime/program/child_end.h"

#include <sys/wait.h>

#include <cerrno>

namespace muster {

int AwaitEnd(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace muster
