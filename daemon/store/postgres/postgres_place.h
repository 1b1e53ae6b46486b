#pragma once

// Where a PostgreSQL database is: a URL that holds no secret.
//
// Invariants: (1) there is no password in it: libpq takes that from a passfile or a service; (2)
// off this machine the server's certificate is verified unless the URL says otherwise; (3) of
// several hosts the one that takes writes is meant.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::daemon {

struct PostgresPlace {
  std::vector<std::pair<std::string, std::string>> settings;  // libpq's keywords and values
  std::string text;                                           // for messages: host and database
};

// True for "postgresql://…" and "postgres://…".
bool IsPostgresUrl(const std::string& url);

// Reads a URL. InvalidArgument is one line: what is wrong, and the mend.
absl::StatusOr<PostgresPlace> ReadPostgresUrl(const std::string& url);

}  // namespace muster::daemon
