#pragma once

// The calls about tokens: a caller makes, sees and ends their own.
//
// Thread promise: gRPC's threads call in and never wait; answers come from `reader`, which waits
// for the disk. Invariants: a token leaves after it is durable, in one answer; an operator sees and
// ends everybody's, with a token that only reads nobody's but their own.

#include "daemon/access/call.h"
#include "daemon/access/token_book.h"
#include "daemon/controller/worker.h"
#include "proto/controller.pb.h"

namespace muster::daemon {

class TokenHandler {
 public:
  // `tokens` may be null: this controller has none. What is referred to outlives the answers.
  TokenHandler(TokenBook* tokens, Worker& reader) : tokens_(tokens), reader_(reader) {}

  void CreateToken(const Call& call, const wire::CreateTokenRequest& request,
                   wire::CreateTokenReply* reply);
  void ListTokens(const Call& call, const wire::ListTokensRequest& request,
                  wire::ListTokensReply* reply);
  void RevokeToken(const Call& call, const wire::RevokeTokenRequest& request,
                   wire::RevokeTokenReply* reply);

 private:
  [[nodiscard]] bool Has(const Call& call) const;

  TokenBook* const tokens_;
  Worker& reader_;
};

}  // namespace muster::daemon
