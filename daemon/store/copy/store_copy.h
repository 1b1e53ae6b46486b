#pragma once

// A cluster moved from one store to another, while no controller is at work on either.
//
// Every row is written in one transaction, and read back and compared after it. Thread promise:
// belongs to one thread. Invariants: (1) what is copied from is not changed but for the schema's
// steps; (2) a store that holds a row already is refused; (3) an error while writing leaves the
// target empty.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::daemon {

struct CopyRequest {
  std::string from;     // "sqlite:DIR" with a controller's state directory, or "postgresql://…"
  std::string to;       // likewise
  std::string cluster;  // the name of the cluster, for PostgreSQL
};

struct CopyReport {
  std::vector<std::pair<std::string, std::uint64_t>> tables;  // and their rows
  bool tokens_stay = false;  // their key is a file, which a database has no place for
};

// An error is one line: where, what is wrong, the mend.
absl::StatusOr<CopyReport> CopyStore(const CopyRequest& request);

}  // namespace muster::daemon
