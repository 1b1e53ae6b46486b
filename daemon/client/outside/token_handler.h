#pragma once

// The calls about tokens: a caller makes, sees and ends their own.
//
// Thread promise: gRPC's threads call in and never wait; answers come from `reader`, which waits
// for the disk. Invariants: a token leaves after it is durable, in one answer; an operator sees and
// ends everybody's, with a token that only reads nobody's but their own.

#include "daemon/access/methods.h"
#include "daemon/access/token_store.h"
#include "daemon/controller/worker.h"

namespace muster::daemon {

// `tokens` may be null: this controller has none. Both outlive the answers.
void ServeTokens(Methods& methods, TokenStore* tokens, Worker& reader);

}  // namespace muster::daemon
