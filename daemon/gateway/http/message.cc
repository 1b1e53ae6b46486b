#include "daemon/gateway/http/message.h"

#include <nlohmann/json.hpp>

namespace muster::daemon::http {
namespace {

const char* TitleOf(unsigned status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

Response Problem(unsigned status, const std::string& code, const std::string& detail) {
  const nlohmann::json body = {{"type", "about:blank"},
                               {"title", TitleOf(status)},
                               {"status", status},
                               {"code", code},
                               {"detail", detail}};
  Response response{status,
                    "application/problem+json",
                    body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n",
                    {}};
  if (status == 401) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"muster\"");
  }
  return response;
}

}  // namespace muster::daemon::http
