#include "checkpoint/disk/error.h"

#include <system_error>

namespace muster::checkpoint {

Error SystemError(const std::string& what, int error_number) {
  return {Fault::kSystem, what + ": " + std::generic_category().message(error_number)};
}

}  // namespace muster::checkpoint
