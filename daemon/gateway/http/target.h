#pragma once

// Reading what stands in a request's first line and in its Authorization.
//
// Invariants: what is returned is UTF-8 without control characters; anything else is refused, never
// repaired, so that no two readers see two things.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/gateway/http/message.h"

namespace muster::daemon::http {

inline constexpr std::size_t kTargetBytesMax = 4096;

// "/v1/jobs?user=ada" into path and query. InvalidArgument says what is wrong.
absl::Status ReadTarget(std::string_view target, Request& request);

// The token of "Bearer TOKEN"; "" for any other scheme, and for a token with letters that none has.
std::string ReadBearer(std::string_view authorization);

// Whether all of it is UTF-8 (RFC 3629) and nothing of it a control character.
bool IsCleanText(std::string_view text);

}  // namespace muster::daemon::http
