#include "daemon/gateway/http/head.h"

#include <array>
#include <cctype>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/gateway/http/target.h"

namespace muster::daemon::http {
namespace {

namespace beast = boost::beast;
using beast::http::field;

// Nothing from elsewhere, nothing inline; nobody frames us, reads along or learns where one was.
constexpr std::array<std::pair<const char*, const char*>, 7> kSafety = {{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"X-Frame-Options", "DENY"},
}};

std::string Text(beast::string_view text) {
  return {text.data(), text.size()};
}

std::optional<Response> Bad(const char* why) {
  return Problem(400, "INVALID_ARGUMENT", why);
}

std::size_t Count(const BeastRequest& message, field name) {
  const auto range = message.equal_range(name);
  return static_cast<std::size_t>(std::distance(range.first, range.second));
}

// The headers that say where one message ends and the next begins.
std::optional<Response> CheckFrame(const BeastRequest& message, const ServerLimits& limits,
                                   std::uint64_t& length) {
  if (message.version() != 11 && message.version() != 10) {
    return Problem(505, "UNIMPLEMENTED", "this is HTTP/1.1");
  }
  if (Count(message, field::host) > 1 ||
      (message.version() == 11 && Count(message, field::host) == 0)) {
    return Bad("a request has one Host");
  }
  // A folded line makes blanks of what looked like two headers.
  const std::string host = Text(message[field::host]);
  if (host.find_first_of(" \t,/@") != std::string::npos) {
    return Bad("Host is a name and a port");
  }
  if (Count(message, field::transfer_encoding) > 0) {
    return Problem(411, "INVALID_ARGUMENT", "say Content-Length: chunks are not taken");
  }
  if (Count(message, field::content_length) > 1) {
    return Bad("a request has one Content-Length");
  }
  const std::string text = Text(message[field::content_length]);
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit || text.size() > 18) {
      return Bad("Content-Length is a whole number");
    }
    length = length * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (length > limits.body_bytes) {
    return Problem(413, "OUT_OF_RANGE",
                   absl::StrCat("the body has more than ", limits.body_bytes, " bytes"));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Response> AnswerToBadHead(beast::error_code error) {
  using Kind = beast::http::error;
  if (error == Kind::header_limit || error == Kind::buffer_overflow) {
    return Problem(431, "OUT_OF_RANGE", "the head of the request is too large");
  }
  if (error == Kind::body_limit) {  // the head says so already
    return Problem(413, "OUT_OF_RANGE", "the body is too large");
  }
  if (error == Kind::end_of_stream || error == Kind::partial_message ||
      error.category() != beast::http::make_error_code(Kind::bad_method).category()) {
    return std::nullopt;
  }
  return Problem(400, "INVALID_ARGUMENT", "this is no request of HTTP/1.1");
}

std::optional<Response> ReadHeadOf(const BeastRequest& message, const ServerLimits& limits,
                                   Request& request) {
  if (std::optional<Response> bad = CheckFrame(message, limits, request.body_bytes)) {
    return bad;
  }
  for (const auto& header : message) {
    if (!IsCleanText({header.value().data(), header.value().size()})) {
      return Bad("a header's value is not UTF-8");
    }
  }
  if (Count(message, field::authorization) > 1) {
    return Bad("a request has one Authorization");
  }
  request.method = Text(message.method_string());
  if (request.method == "HEAD") {
    request.method = "GET";
  }
  if (const absl::Status read = ReadTarget(Text(message.target()), request); !read.ok()) {
    return Problem(400, "INVALID_ARGUMENT", std::string(read.message()));
  }
  request.bearer = ReadBearer(Text(message[field::authorization]));
  if (request.bearer.empty()) {  // as clients of slurmrestd say it
    if (message.count("X-SLURM-USER-TOKEN") > 1) {
      return Bad("a request has one X-SLURM-USER-TOKEN");
    }
    request.bearer = ReadBearer("Bearer " + Text(message["X-SLURM-USER-TOKEN"]));
  }
  request.content_type = Text(message[field::content_type]);
  request.accept = Text(message[field::accept]);
  request.last_event_id = Text(message["Last-Event-ID"]);
  return std::nullopt;
}

bool WantsToBeAsked(const BeastRequest& message) {
  return message.version() == 11 && beast::iequals(message[field::expect], "100-continue");
}

BeastResponse MessageOf(Response response, bool keep, bool head_only) {
  BeastResponse message{static_cast<beast::http::status>(response.status), 11};
  for (const auto& [name, value] : kSafety) {
    message.set(name, value);
  }
  if (!response.type.empty()) {
    message.set(field::content_type, response.type);
  }
  for (const auto& [name, value] : response.headers) {
    message.set(name, value);
  }
  message.keep_alive(keep);
  message.content_length(response.body.size());
  if (!head_only) {
    message.body() = std::move(response.body);
  }
  return message;
}

std::string StreamHeadOf(const Response& head) {
  std::string text = absl::StrCat("HTTP/1.1 ", head.status, " OK\r\nContent-Type: ", head.type,
                                  "\r\nConnection: close\r\n");
  for (const auto& [name, value] : kSafety) {
    absl::StrAppend(&text, name, ": ", value, "\r\n");
  }
  for (const auto& [name, value] : head.headers) {
    absl::StrAppend(&text, name, ": ", value, "\r\n");
  }
  return text + "\r\n";
}

}  // namespace muster::daemon::http
