#pragma once

// Requests and answers of HTTP as values, and the way back to a caller.
//
// Thread promise: plain values; a ReplyPath from any thread. Invariants: the texts of a request are
// UTF-8 without control characters, the body excepted; a request is answered once, by whoever holds
// its ReplyPath, and with an error when the last one lets it go.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::daemon::http {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method;         // "GET", "POST"; a HEAD is a GET whose body is not sent
  std::string path;           // decoded: "/v1/jobs/7"
  Pairs query;                // decoded, in order
  std::string bearer;         // of "Authorization: Bearer" or X-SLURM-USER-TOKEN; empty: none
  std::string content_type;   // as it stands there
  std::string accept;         // "
  std::string last_event_id;  // "
  std::string body;
  std::uint64_t body_bytes = 0;  // as the head says
};

struct Response {
  unsigned status = 200;
  std::string type;  // of the content
  std::string body;
  Pairs headers;  // besides those of every answer
};

// An answer of RFC 9457: what went wrong, for programs and people. `code` is a name that programs
// may compare, such as "NOT_FOUND".
Response Problem(unsigned status, const std::string& code, const std::string& detail);

class ReplyPath {
 public:
  virtual ~ReplyPath() = default;
  virtual void Send(Response response) = 0;
  // Begins an answer without an end, in place of Send.
  virtual void BeginStream(Response head) = 0;
  // One piece of it. `done` is called when the piece is on its way, with false when the caller has
  // gone or is too slow; then, and after End, nothing more goes out. One piece at a time.
  // Many may share a piece.
  using Piece = std::shared_ptr<const std::string>;
  virtual void Write(Piece piece, std::function<void(bool alive)> done) = 0;
  virtual void End() = 0;
};

struct Handlers {
  using Verdict = std::function<void(std::optional<Response> answer)>;
  // What is answered of the head alone; nothing: go on.
  std::function<std::optional<Response>(const Request& head)> screen;
  std::function<void(Request request, std::shared_ptr<ReplyPath> reply)> serve;
  // Of a body larger than ServerLimits::stranger_bytes: whether the caller is known, before it is
  // read. Calls back once, from any thread, as `screen` answers.
  std::function<void(const Request& head, Verdict verdict)> judge;
};

}  // namespace muster::daemon::http
