#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/cluster/policy_words.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/documents.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/parse/number.h"
#include "cli/sheet/policy_table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/policy/policy_text.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kHistoryMax = 100'000;

// The verb's kinds: accounts are shown with their users.
std::vector<PolicyKind> KindsOf(PolicyKind kind) {
  return kind == PolicyKind::kAccount
             ? std::vector<PolicyKind>{PolicyKind::kAccount, PolicyKind::kAssociation}
             : std::vector<PolicyKind>{kind};
}

absl::StatusOr<int> Change(const Invocation& invocation, const PolicyWords& words) {
  const PolicyVerb verb = words.action == PolicyAction::kAdd   ? PolicyVerb::kAdd
                          : words.action == PolicyAction::kSet ? PolicyVerb::kSet
                                                               : PolicyVerb::kDelete;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  RETURN_IF_ERROR(
      connection->Call(ChangePolicy{verb, words.kind, words.names.front(), words.assignments}));
  return 0;
}

absl::StatusOr<int> History(const Invocation& invocation, PolicyKind kind,
                            const PolicyWords& words) {
  std::uint32_t limit = 0;
  if (invocation.Has("limit")) {
    const absl::StatusOr<std::uint32_t> count = ParseCount(invocation.Value("limit"), kHistoryMax);
    if (!count.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--limit: ", std::string(count.status().message())));
    }
    limit = *count;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const std::vector<PolicyChangeView> changes,
                   connection->Call(PolicyHistory{
                       KindsOf(kind), words.names.empty() ? "" : words.names.front(), limit}));
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? PolicyHistoryDocument(changes)
                   : PrintPolicyHistory(changes, !invocation.Has("noheader"),
                                        StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

// Those that are named, one line on stderr for each that is not there; all when none is named.
std::vector<PolicyView> Chosen(const std::vector<PolicyView>& all, const PolicyWords& words,
                               const std::string& verb, int* code) {
  if (words.names.empty()) {
    return all;
  }
  std::vector<PolicyView> chosen;
  for (const std::string& name : words.names) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const PolicyView& object) { return object.name == name; });
    if (found != all.end()) {
      chosen.push_back(*found);
    } else {
      std::cerr << "muster " << verb << ": no " << Name(words.kind) << " " << Quote(name)
                << ": see muster " << verb << " list\n";
      *code = 1;
    }
  }
  return chosen;
}

absl::StatusOr<int> Show(const Invocation& invocation, PolicyKind kind, const std::string& verb,
                         const PolicyWords& words) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const std::vector<PolicyView> all, connection->Call(ListPolicy{KindsOf(kind)}));
  int code = 0;
  const std::vector<PolicyView> chosen = Chosen(all, words, verb, &code);
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  const bool header = !invocation.Has("noheader");
  std::string page;
  if (invocation.Has("json")) {
    page = PolicyDocument(chosen);
  } else if (words.action == PolicyAction::kShow) {
    for (const PolicyView& object : chosen) {
      absl::StrAppend(&page, PrintPolicySheet(object, style));
    }
  } else {
    page = kind == PolicyKind::kAccount ? PrintAccounts(chosen, header, style)
                                        : PrintPolicy(chosen, header, style);
  }
  RETURN_IF_ERROR(WriteOut(page));
  return code;
}

absl::StatusOr<int> Run(const Invocation& invocation, PolicyKind kind, const std::string& verb) {
  ASSIGN_OR_RETURN(
      const PolicyWords words,
      ParsePolicyWords(kind, invocation.arguments, SystemClock().Now(), absl::LocalTimeZone()));
  switch (words.action) {
    case PolicyAction::kAdd:
    case PolicyAction::kSet:
    case PolicyAction::kDelete:
      return Change(invocation, words);
    case PolicyAction::kHistory:
      return History(invocation, kind, words);
    case PolicyAction::kList:
    case PolicyAction::kShow:
      break;
  }
  return Show(invocation, kind, verb, words);
}

Verb Make(const std::string& name, PolicyKind kind, const std::string& purpose,
          std::vector<std::string> examples, const std::string& more) {
  Verb verb;
  verb.name = name;
  verb.purpose = purpose;
  verb.synopsis =
      "[list | show NAME… | add NAME KEY=VALUE… | set NAME KEY=VALUE… | "
      "delete NAME | history [NAME]]";
  verb.forms = {"[options] [list | show NAME…]", "add|set NAME KEY=VALUE…", "delete NAME",
                "[options] history [NAME]"};
  verb.examples = std::move(examples);
  verb.remarks =
      absl::StrCat("Keys, in any case: ", absl::StrJoin(PolicyKeys(kind), ", "),
                   ".\nKEY= or KEY=-1 takes a limit away; lists take KEY+= and KEY-=. ", more);
  verb.options = {{.name = "noheader", .letter = 0, .metavar = "", .text = "No line of titles"},
                  {.name = "limit",
                   .letter = 0,
                   .metavar = "N",
                   .text = "history: at most N changes, newest first (default 100)"},
                  JsonOption()};
  verb.arguments_max = kAnyNumber;
  return verb;
}

}  // namespace

Verb PartitionVerb() {
  Verb verb = Make(
      "partition", PolicyKind::kPartition, "Show and change partitions: sets of nodes with rules",
      {"muster partition", "muster partition add debug Nodes=n[1-2] MaxTime=30 Default=YES",
       "muster partition set debug State=DRAIN"},
      "Without any, there is one\nof all nodes: main.");
  verb.run = [](const Invocation& invocation) {
    return Run(invocation, PolicyKind::kPartition, "partition");
  };
  return verb;
}

Verb QosVerb() {
  Verb verb = Make("qos", PolicyKind::kQos, "Show and change QOS: classes of service with limits",
                   {"muster qos add high Priority=100 MaxTRESPerUser=cpu=64,gres/gpu=2",
                    "muster qos set high MaxWall=2-00:00:00", "muster qos history high"},
                   "A job that\nnames none has QOS normal.");
  verb.run = [](const Invocation& invocation) { return Run(invocation, PolicyKind::kQos, "qos"); };
  return verb;
}

Verb AccountsVerb() {
  Verb verb = Make("accounts", PolicyKind::kAccount,
                   "Show and change the account tree, its users, shares and limits",
                   {"muster accounts add physics Fairshare=10 GrpTRES=cpu=512",
                    "muster accounts add physics user=ada MaxJobs=20", "muster accounts history"},
                   "With user=NAME\nit is that user in the account (DefaultAccount=YES too); once "
                   "there are users, no other user\nmay submit. RawUsage=0 forgets what was spent "
                   "of GrpTRESMins and GrpWall.");
  verb.run = [](const Invocation& invocation) {
    return Run(invocation, PolicyKind::kAccount, "accounts");
  };
  return verb;
}

Verb ReservationVerb() {
  Verb verb =
      Make("reservation", PolicyKind::kReservation,
           "Show and change reservations: nodes set apart for a time",
           {"muster reservation add upgrade StartTime=2030-01-31T08:00 Duration=4:00:00 Nodes=ALL "
            "Flags=MAINT",
            "muster reservation add course StartTime=now Duration=2h NodeCnt=2 Users=ada,bob"},
           "Times are local\nunless they end in Z.");
  verb.run = [](const Invocation& invocation) {
    return Run(invocation, PolicyKind::kReservation, "reservation");
  };
  return verb;
}

}  // namespace muster::cli
