#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/up/web_place.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/mac.h"

namespace muster::cli {
namespace {

constexpr Duration kSession = std::chrono::hours(12);
constexpr std::size_t kCodeBytes = 24;

absl::StatusOr<int> Web(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const std::string state,
                   StateDirectory(invocation.Value("state"), invocation.environment));
  const WebPlace place(state);
  const absl::StatusOr<std::string> url = ReadFile(place.address);
  if (!url.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(state, ": no page is served here: start it by muster up --web"));
  }
  ASSIGN_OR_RETURN(const Address address,
                   ParseAddress(absl::StrCat("unix:", state, "/controller.sock")));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(const NewToken made,
                   connection->Call(CreateToken{kSession, invocation.Has("read-only")}));
  ASSIGN_OR_RETURN(const std::string random, RandomBytes(kCodeBytes));
  const std::string code = absl::WebSafeBase64Escape(random);
  RETURN_IF_ERROR(WriteFileAtomically(place.LinkOf(code), made.token));
  RETURN_IF_ERROR(WriteOut(absl::StrCat(url->substr(0, url->find('\n')), "#login=", code, "\n")));
  return 0;
}

}  // namespace

Verb WebVerb() {
  Verb verb;
  verb.name = "web";
  verb.purpose = "Print a link to your cluster's page that works once";
  verb.examples = {"muster web", "xdg-open \"$(muster web)\""};
  verb.remarks =
      "For a cluster that muster up --web runs. The link counts once and for five minutes; what "
      "it\n"
      "opens counts for twelve hours, in that browser tab alone, and ends with the gateway.\n";
  verb.options = {{.name = "read-only",
                   .letter = 0,
                   .metavar = "",
                   .text = "The page shows, and changes nothing"}};
  verb.run = Web;
  return verb;
}

}  // namespace muster::cli
