#include <pwd.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/cluster/key_store.h"
#include "cli/controller/address.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/subcommand.h"
#include "cli/frame/verbs.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/time_text.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kDaysDefault = 365;
constexpr std::uint32_t kDaysMax = 3650;

struct Request {
  std::string directory;
  std::vector<std::string> names;  // behind the command
  std::chrono::hours life{};
  Time now{};
  bool renew = false;
  bool finish = false;
  bool json = false;
  Style style;
};

absl::StatusOr<Request> ReadRequest(const Invocation& invocation) {
  Request request;
  request.directory = invocation.Value("keys");
  if (request.directory.empty()) {
    request.directory = invocation.environment.Get("MUSTER_KEYS");
  }
  if (request.directory.empty()) {
    ASSIGN_OR_RETURN(const std::string state,
                     StateDirectory(invocation.Value("state"), invocation.environment));
    request.directory = state + "/keys";
  }
  std::uint32_t days = kDaysDefault;
  if (invocation.Has("days")) {
    const absl::StatusOr<std::uint32_t> given = ParseCount(invocation.Value("days"), kDaysMax);
    if (!given.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--days: ", std::string(given.status().message())));
    }
    days = *given;
  }
  request.life = std::chrono::hours(24) * days;
  request.names.assign(invocation.arguments.begin() + 1, invocation.arguments.end());
  request.now = SystemClock().Now();
  request.renew = invocation.Has("renew");
  request.finish = invocation.Has("finish");
  request.json = invocation.Has("json");
  request.style = StyleFor(invocation.environment, STDOUT_FILENO);
  return request;
}

absl::Status Init(const Request& request) {
  RETURN_IF_ERROR(KeyStore::Make(request.directory, request.now, request.life).status());
  return WriteOut(absl::StrCat("An authority and the controller's key in ", request.directory,
                               "\nStart the controller:  musterd --listen 0.0.0.0:7117 --keys ",
                               request.directory,
                               " …\nFor each node:         muster keys agent NODE\n"));
}

absl::Status IssueOne(const Request& request, const CertificateSubject& subject,
                      const std::string& then) {
  ASSIGN_OR_RETURN(const KeyStore store, KeyStore::Open(request.directory));
  ASSIGN_OR_RETURN(const std::string place,
                   store.Issue(subject, request.renew, request.now, request.life));
  return WriteOut(subject.role == CertificateRole::kController
                      ? absl::StrCat("The controller's key is in ", place, "\n")
                      : absl::StrCat("The key of ", ToText(subject), " is in ", place, "\n", then));
}

absl::Status MakeController(const Request& request) {
  return IssueOne(request, {CertificateRole::kController, ""}, "");
}

absl::Status MakeAgent(const Request& request) {
  const std::string& node = request.names.front();
  return IssueOne(
      request, {CertificateRole::kAgent, node},
      absl::StrCat("Bring it to ", node, ", as root's alone; there: muster-agent --name ", node,
                   " --controller HOST:PORT --keys DIR …\n"));
}

absl::Status MakeClient(const Request& request) {
  std::string user = request.names.empty() ? "" : request.names.front();
  if (user.empty()) {
    const passwd* const entry = getpwuid(geteuid());  // NOLINT(concurrency-mt-unsafe): one thread
    if (entry == nullptr) {
      return absl::NotFoundError(
          "client: you have no name here; give one: muster keys client USER");
    }
    user = entry->pw_name;
  }
  return IssueOne(request, {CertificateRole::kClient, user},
                  "It speaks as that user; with it: MUSTER_KEYS=DIR muster --controller …\n");
}

absl::Status Rotate(const Request& request) {
  ASSIGN_OR_RETURN(KeyStore store, KeyStore::Open(request.directory));
  if (request.finish) {
    RETURN_IF_ERROR(store.Finish(request.now, request.life));
    return WriteOut("The old authority is trusted no more.\n");
  }
  RETURN_IF_ERROR(store.Rotate(request.now));
  return WriteOut(
      "A fresh authority; the old one is trusted on. Now make every agent's and client's key "
      "again\n"
      "(muster keys agent NODE), bring it there with its ca.pem, then: muster keys rotate "
      "--finish\n");
}

absl::Status Revoke(const Request& request) {
  const std::string& role = request.names.front();
  if ((role != "agent" && role != "client") || request.names.size() != 2) {
    return absl::InvalidArgumentError("revoke: say agent NODE or client USER");
  }
  ASSIGN_OR_RETURN(const KeyStore store, KeyStore::Open(request.directory));
  return store.Revoke(
      {role == "agent" ? CertificateRole::kAgent : CertificateRole::kClient, request.names.back()});
}

const char* StatusOf(const KeptCertificate& kept, Time now) {
  return kept.revoked                              ? "revoked"
         : kept.facts.expires <= now               ? "expired"
         : kept.of_old_authority                   ? "old authority"
         : !ExpiryWarning(kept.facts, now).empty() ? "ends soon"
                                                   : "good";
}

absl::Status List(const Request& request) {
  ASSIGN_OR_RETURN(const KeyStore store, KeyStore::Open(request.directory));
  ASSIGN_OR_RETURN(const std::vector<KeptCertificate> all, store.List());
  Table table({{.title = "ROLE"},
               {.title = "NAME"},
               {.title = "STATE"},
               {.title = "EXPIRES"},
               {.title = "SERIAL", .right = false, .least = 8}});
  Json rows = Json::array();
  for (const KeptCertificate& kept : all) {
    const CertificateSubject& subject = kept.facts.subject;
    const char* status = StatusOf(kept, request.now);
    const bool good = std::string(status) == "good";
    table.Add({{Name(subject.role)},
               {subject.name.empty() ? "-" : subject.name},
               {status, good ? Paint::kPlain : Paint::kYellow},
               {MomentText(kept.facts.expires, request.style.zone)},
               {kept.facts.serial}});
    rows.push_back({{"role", Name(subject.role)},
                    {"name", subject.name},
                    {"state", status},
                    {"expires", IsoText(kept.facts.expires)},
                    {"serial", kept.facts.serial},
                    {"path", kept.path}});
  }
  return WriteOut(request.json ? PrintJson({{"certificates", rows}}) : table.Print(request.style));
}

struct Command {
  const char* name;
  std::size_t names_min;
  std::size_t names_max;
  const char* usage;
  absl::Status (*run)(const Request&);
};

constexpr std::array<Command, 7> kCommands = {{
    {"init", 0, 0, "", Init},
    {"agent", 1, 1, " NODE", MakeAgent},
    {"client", 0, 1, " [USER]", MakeClient},
    {"controller", 0, 0, "", MakeController},
    {"rotate", 0, 0, "", Rotate},
    {"revoke", 2, 2, " agent|client NAME", Revoke},
    {"list", 0, 0, "", List},
}};

absl::StatusOr<int> Keys(const Invocation& invocation) {
  const std::string& command = invocation.arguments.front();
  ASSIGN_OR_RETURN(const Command* const found, FindSubcommand(kCommands, "keys", command));
  ASSIGN_OR_RETURN(const Request request, ReadRequest(invocation));
  if (request.names.size() < found->names_min || request.names.size() > found->names_max) {
    return absl::InvalidArgumentError(
        absl::StrCat(command, ": write muster keys ", command, found->usage));
  }
  RETURN_IF_ERROR(found->run(request));
  return 0;
}

}  // namespace

Verb KeysVerb() {
  Verb verb;
  verb.name = "keys";
  verb.purpose = "Make and change the certificates of controller, agents and clients";
  verb.synopsis = "init|agent NODE|client [USER]|controller|rotate|revoke agent|client NAME|list";
  verb.forms = {"init [--days N] [--keys DIR]",
                "agent NODE [--renew] [--days N] [--keys DIR]",
                "client [USER] [--renew] [--days N] [--keys DIR]",
                "controller [--renew] [--days N] [--keys DIR]",
                "rotate [--finish] [--keys DIR]",
                "revoke agent|client NAME [--keys DIR]",
                "list [--json] [--keys DIR]"};
  verb.examples = {"muster keys init --keys /etc/muster/keys",
                   "muster keys agent n1 --keys /etc/muster/keys",
                   "muster keys rotate --finish --keys /etc/muster/keys"};
  verb.remarks =
      "Needed once a cluster listens beyond this machine. An agent's certificate speaks for its\n"
      "node alone, a client's for its user. Users of a cluster with MUNGE need none.";
  verb.options = {
      {.name = "days",
       .letter = 0,
       .metavar = "N",
       .text = "How long a certificate is good (default: 365)"},
      {.name = "finish",
       .letter = 0,
       .metavar = "",
       .text = "rotate: trust the old authority no more"},
      JsonOption(),
      {.name = "keys",
       .letter = 0,
       .metavar = "DIR",
       .text = "Where the authority is (default: $MUSTER_KEYS, or keys in the state directory)"},
      {.name = "renew",
       .letter = 0,
       .metavar = "",
       .text = "Make another key though there is a good one"},
  };
  verb.arguments_min = 1;
  verb.arguments_max = 3;
  verb.run = Keys;
  return verb;
}

}  // namespace muster::cli
