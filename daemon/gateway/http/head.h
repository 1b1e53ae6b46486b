#pragma once

// What a connection makes of heads: from Beast's to ours, and from our answers to Beast's.
//
// Invariants: a head that two readers could read differently is an error: one Host, one plain
// Content-Length or none, no Transfer-Encoding; every answer has the headers of safety.

#include <boost/beast/http.hpp>
#include <optional>
#include <string>

#include "daemon/gateway/http/message.h"
#include "daemon/gateway/http/source_budget.h"

namespace muster::daemon::http {

using BeastRequest = boost::beast::http::request<boost::beast::http::string_body>;
using BeastResponse = boost::beast::http::response<boost::beast::http::string_body>;

// What to answer when no head could be read; nothing: the caller is gone, or was silent.
std::optional<Response> AnswerToBadHead(boost::beast::error_code error);

// The head as ours; an answer when it is not to be served.
std::optional<Response> ReadHeadOf(const BeastRequest& message, const ServerLimits& limits,
                                   Request& request);

// Whether the caller waits for "100 Continue".
bool WantsToBeAsked(const BeastRequest& message);

// `head_only`: the answer to a HEAD, whose body is described and not sent.
BeastResponse MessageOf(Response response, bool keep, bool head_only);
// The head of an answer without an end, as it goes out.
std::string StreamHeadOf(const Response& head);

}  // namespace muster::daemon::http
