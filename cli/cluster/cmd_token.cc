#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr Duration kLongestLife = std::chrono::hours(366 * 24);

Json TokenJson(const TokenView& token) {
  return {{"id", token.id},
          {"user", token.user},
          {"issued", ToJson(token.issued)},
          {"expires", ToJson(token.expires)},
          {"read_only", token.read_only}};
}

absl::StatusOr<int> ShowTokens(const Invocation& invocation, Connection& connection) {
  ASSIGN_OR_RETURN(const std::vector<TokenView> tokens,
                   connection.Call(ListTokens{invocation.Has("all-users")}));
  if (invocation.Has("json")) {
    Json list = Json::array();
    for (const TokenView& token : tokens) {
      list.push_back(TokenJson(token));
    }
    RETURN_IF_ERROR(WriteOut(PrintJson(Json{{"tokens", std::move(list)}})));
    return 0;
  }
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  const Time now = SystemClock().Now();
  Table table({{"ID"}, {"USER"}, {"MAY"}, {"ENDS IN"}});
  for (const TokenView& token : tokens) {
    table.Add({{token.id},
               {token.user},
               {token.read_only ? "read" : "all"},
               {ElapsedText(std::max(token.expires - now, Duration(0)))}});
  }
  RETURN_IF_ERROR(WriteOut(table.Print(style)));
  return 0;
}

absl::StatusOr<int> MakeToken(const Invocation& invocation, Connection& connection) {
  Duration lifetime(0);
  if (invocation.Has("lifetime")) {
    const absl::StatusOr<Duration> read = ParseDuration(invocation.Value("lifetime"));
    if (!read.ok() || *read < std::chrono::seconds(1) || *read > kLongestLife) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--lifetime: ", read.ok() ? "1s to 366d" : std::string(read.status().message())));
    }
    lifetime = *read;
  }
  ASSIGN_OR_RETURN(const NewToken made,
                   connection.Call(CreateToken{lifetime, invocation.Has("read-only")}));
  if (!invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(made.token + "\n"));
    return 0;
  }
  Json document = TokenJson(made.view);
  document["token"] = made.token;
  RETURN_IF_ERROR(WriteOut(PrintJson(document)));
  return 0;
}

absl::StatusOr<int> Token(const Invocation& invocation) {
  const bool list = invocation.Has("list");
  const bool revoke = invocation.Has("revoke");
  const bool create = invocation.Has("lifetime") || invocation.Has("read-only");
  if ((list ? 1 : 0) + (revoke ? 1 : 0) + (create ? 1 : 0) > 1) {
    return absl::InvalidArgumentError(
        "--list, --revoke, and making one by --lifetime and --read-only: choose one");
  }
  if (invocation.Has("all-users") && !list) {
    return absl::InvalidArgumentError("--all-users goes with --list");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  if (list) {
    return ShowTokens(invocation, *connection);
  }
  if (revoke) {
    RETURN_IF_ERROR(connection->Call(RevokeToken{invocation.Value("revoke")}));
    return 0;
  }
  return MakeToken(invocation, *connection);
}

}  // namespace

Verb TokenVerb() {
  Verb verb;
  verb.name = "token";
  verb.purpose = "Make a token that speaks for you over HTTP, or see and end yours";
  verb.examples = {
      "muster token --read-only --lifetime 30d > prometheus.token",
      "curl -H \"Authorization: Bearer $(muster token)\" http://127.0.0.1:7118/v1/jobs",
      "muster token --list", "muster token --revoke x7Yp0aQz1b2C"};
  verb.remarks =
      "A program that has a token can do what you can, until it ends or is revoked: keep it as "
      "you\n"
      "keep a key. It makes no other token and changes no policy.\n";
  verb.options = {
      {.name = "lifetime",
       .letter = 0,
       .metavar = "TIME",
       .text = "How long it counts: 90s, 12h (the default), 30d; at most 366d"},
      {.name = "read-only", .letter = 0, .metavar = "", .text = "It asks, and changes nothing"},
      {.name = "list", .letter = 0, .metavar = "", .text = "Show your tokens that still count"},
      {.name = "all-users",
       .letter = 0,
       .metavar = "",
       .text = "With --list: everybody's, for operators"},
      {.name = "revoke", .letter = 0, .metavar = "ID", .text = "End the token of that name now"},
      JsonOption()};
  verb.run = Token;
  return verb;
}

}  // namespace muster::cli
