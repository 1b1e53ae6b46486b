#pragma once

// One POST by libcurl, and the signatures of webhooks.
//
// Thread promise: safe from any thread once StartHttp was called. Invariants: a request takes
// kTime at most; no redirect is followed; without `to_private` no connection goes to an address of
// this machine or of a private network, whatever a name resolves to.

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// Before threads, once.
void StartHttp();

struct HttpPost {
  std::string url;
  std::string type;  // of the body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool to_private = false;
};

// OK when the answer is 2xx. InvalidArgument: the other side will never take it (4xx, but 408, 425
// and 429), or we may not send it there.
absl::Status Post(const HttpPost& post, std::chrono::seconds time);

// The headers of Standard Webhooks 1.0, signed by HMAC-SHA-256 with `key`.
std::vector<std::pair<std::string, std::string>> WebhookHeaders(const std::string& id, Time now,
                                                                const std::string& body,
                                                                const std::string& key);
// Each user's own key, so that one cannot sign for another: of the site's.
std::string WebhookKeyOf(const std::string& site_key, const std::string& user);
// "whsec_…", as receivers take it.
std::string WebhookSecretText(const std::string& key);

// Whether an address ("10.0.0.7", "::1") is of this machine, a private network or a link.
bool IsPrivateAddress(const std::string& address);

}  // namespace muster::cli
