#include "agent/supervisor/image/cache/image_facts.h"

#include <sys/utsname.h>

namespace muster::agent {

std::string OwnArchitecture() {
  utsname name = {};
  uname(&name);
  const std::string machine = name.machine;
  return machine == "x86_64" ? "amd64" : machine == "aarch64" ? "arm64" : machine;
}

}  // namespace muster::agent
