#pragma once

// What the gateway answers: which path is what, and whose token goes along.
//
// Thread promise: Screen and Serve on the server's thread, where they do not block; answers come on
// gRPC's threads. Invariants: (1) what needs a token is not even read without one; (2) the
// controller judges every call; nothing of one caller's answer is kept for another.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "daemon/gateway/http/message.h"
#include "daemon/gateway/link/controller_link.h"
#include "daemon/gateway/link/web_sessions.h"
#include "daemon/gateway/stream/event_hub.h"
#include "daemon/gateway/stream/job_watches.h"

namespace muster::daemon {

class Gateway {
 public:
  // What is referred to outlives it, and the calls that it makes.
  Gateway(ControllerLink& link, WebSessions& sessions, const std::string& version);

  // The certificate that callers are shown ends then, in seconds since 1970; /metrics tells it.
  // Before anything is served.
  void NoteCertificateEnd(std::optional<std::int64_t> end) { certificate_end_ = end; }
  // The answer to a head that is not to be served; nothing: go on.
  std::optional<http::Response> Screen(const http::Request& head);
  // Whether the controller knows the caller, asked before a large body is read.
  void Judge(const http::Request& head, http::Handlers::Verdict verdict);
  void Serve(const http::Request& request, std::shared_ptr<http::ReplyPath> reply);
  // To be called now and then: finds readers of streams that have gone without a word.
  void Beat() {
    events_.Beat();
    jobs_.Beat();
  }
  // To be called every kReleaseEvery of EventHub: readers of events get what waited for it.
  void ReleaseEvents() { events_.Release(); }

 private:
  void ServeLogin(const http::Request& request, http::ReplyPath& reply);
  void ServeCall(const http::Request& request, const std::string& token,
                 std::shared_ptr<http::ReplyPath> reply);

  void ServeEvents(const http::Request& request, const std::string& token,
                   const std::shared_ptr<http::ReplyPath>& reply);
  void ServeMetrics(const http::Request& request, const std::string& token,
                    std::shared_ptr<http::ReplyPath> reply);

  ControllerLink& link_;
  WebSessions& sessions_;
  EventHub events_;
  JobWatches jobs_;
  const std::string open_api_;
  std::optional<std::int64_t> certificate_end_;
};

// A status of the controller's as an answer: the code's counterpart in HTTP, its line as the
// detail.
http::Response ProblemOf(const grpc::Status& status);

}  // namespace muster::daemon
