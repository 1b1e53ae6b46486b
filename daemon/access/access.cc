#include "daemon/access/access.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

using Roles = std::uint8_t;

constexpr Roles Bit(Role role) {
  return static_cast<Roles>(1U << static_cast<unsigned>(role));
}

constexpr Roles kPeople =
    Bit(Role::kOwner) | Bit(Role::kUser) | Bit(Role::kClient) | Bit(Role::kToken);
// What changes nothing.
constexpr Roles kReaders = kPeople | Bit(Role::kReader);
// A certificate and a token are texts that can be copied: they change no policy.
constexpr Roles kInPerson = Bit(Role::kOwner) | Bit(Role::kUser);
// No token makes another: it would never end.
constexpr Roles kMinters = kInPerson | Bit(Role::kClient);
constexpr Roles kNodes = Bit(Role::kOwner) | Bit(Role::kAgent);

enum class Rule : std::uint8_t {
  kAll,       // what everybody of these roles may do or see
  kOwnJobs,   // their own jobs, and an operator any: core/handle says so, which knows whose they
              // are, or the method itself
  kOperator,  // operators alone
  kOwnNode,   // an agent for the node of its certificate: the session says so
};

struct Row {
  const char* method;
  Roles roles;
  Rule rule;
};

constexpr std::array kTable = {
    Row{"/muster.wire.Controller/Ping", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/Submit", kPeople, Rule::kAll},
    Row{"/muster.wire.Controller/SubmitMany", kPeople, Rule::kAll},
    Row{"/muster.wire.Controller/TestSubmit", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/Cancel", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/Hold", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/Requeue", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/Suspend", kPeople, Rule::kOperator},
    Row{"/muster.wire.Controller/Update", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/StartStep", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/Signal", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/Attach", kPeople, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/ListJobs", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/ListHistory", kReaders, Rule::kAll},
    // What only the program knows (its command, its files) is shown to its owner and to operators.
    Row{"/muster.wire.Controller/ShowJob", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/Explain", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/ListNodes", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/Drain", kPeople, Rule::kOperator},
    // What one tells, others' kernels are run with.
    Row{"/muster.wire.Controller/PutTuning", kPeople, Rule::kOperator},
    Row{"/muster.wire.Controller/ListTunings", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/CheckHealth", kPeople, Rule::kOperator},
    Row{"/muster.wire.Controller/ListHealth", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/ChangePolicy", kInPerson, Rule::kOperator},
    Row{"/muster.wire.Controller/ListPolicy", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/PolicyHistory", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/ListShares", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/WatchJob", kReaders, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/ReadMetrics", kReaders, Rule::kAll},
    // Of their own jobs, and of what is nobody's.
    Row{"/muster.wire.Controller/WatchEvents", kReaders, Rule::kOwnJobs},
    Row{"/muster.wire.Controller/ShowCurve", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/ShowPlan", kReaders, Rule::kAll},
    // Their own; an operator sees and ends any.
    Row{"/muster.wire.Controller/CreateToken", kMinters, Rule::kAll},
    Row{"/muster.wire.Controller/ListTokens", kReaders, Rule::kAll},
    Row{"/muster.wire.Controller/RevokeToken", kPeople, Rule::kAll},
    Row{"/muster.wire.AgentLink/Attach", kNodes, Rule::kOwnNode},
};

const Row* FindRow(std::string_view method) {
  for (const Row& row : kTable) {
    if (method == row.method) {
      return &row;
    }
  }
  return nullptr;
}

void AddMethods(const google::protobuf::ServiceDescriptor& service,
                std::vector<std::string>& methods) {
  for (int i = 0; i < service.method_count(); ++i) {
    methods.push_back(absl::StrCat("/", service.full_name(), "/", service.method(i)->name()));
  }
}

}  // namespace

User UserOf(uid_t uid) {
  User user{uid, 0, absl::StrCat(uid)};
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    user.gid = found->pw_gid;
    user.name = found->pw_name;
  }
  return user;
}

namespace {

// A user whom nobody is: what an agent or a controller must not do as itself.
constexpr uid_t kNobody = static_cast<uid_t>(-1);

absl::StatusOr<User> UserNamed(const std::string& name) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return absl::NotFoundError("a user whom the controller's machine does not know");
  }
  return User{found->pw_uid, found->pw_gid, found->pw_name};
}

absl::StatusOr<Caller> IdentifyByCertificate(const Transport& transport, std::string_view revoked) {
  const auto refused = [&](const CertificateFacts* facts, const std::string& why) {
    return absl::PermissionDeniedError(
        absl::StrCat("caller ", transport.peer, facts == nullptr ? "" : ", ",
                     facts == nullptr ? "" : ToText(facts->subject), ": ", why));
  };
  const absl::StatusOr<CertificateFacts> facts = ReadCertificate(transport.certificate);
  if (!facts.ok()) {
    return refused(nullptr, std::string(facts.status().message()));
  }
  if (IsRevoked(revoked, *facts)) {
    return refused(&*facts, absl::StrCat("certificate ", facts->serial, " has been revoked"));
  }
  Caller caller;
  caller.user = User{kNobody, kNobody, ""};
  caller.peer = transport.peer;
  caller.proof = absl::StrCat("certificate ", facts->serial);
  switch (facts->subject.role) {
    case CertificateRole::kController:
      caller.role = Role::kController;
      return caller;
    case CertificateRole::kAgent:
      caller.role = Role::kAgent;
      caller.node = facts->subject.name;
      return caller;
    case CertificateRole::kClient:
      break;
  }
  caller.role = Role::kClient;
  const absl::StatusOr<User> user = UserNamed(facts->subject.name);
  if (!user.ok()) {
    return refused(&*facts, std::string(user.status().message()));
  }
  caller.user = *user;
  return caller;
}

absl::StatusOr<Caller> IdentifyByMunge(const Transport& transport) {
  if (!transport.munge.has_value()) {
    return absl::UnauthenticatedError(absl::StrCat(
        "caller ", transport.peer, ": ",
        transport.munge_refusal.empty()
            ? "no certificate and no MUNGE credential; run munged on both machines, or use a key "
              "that muster keys client made"
            : transport.munge_refusal));
  }
  return Caller{Role::kUser, UserOf(*transport.munge), "", "MUNGE", transport.peer};
}

absl::StatusOr<Caller> IdentifyByToken(const Transport& transport) {
  if (!transport.token.has_value()) {
    return absl::UnauthenticatedError(absl::StrCat(
        "caller ", transport.peer, ": ",
        transport.shows_token ? transport.token_refusal : "no token; make one: muster token"));
  }
  const TokenGrant& grant = *transport.token;
  return Caller{grant.read_only ? Role::kReader : Role::kToken, grant.user, "",
                absl::StrCat("token ", grant.id), transport.peer};
}

absl::StatusOr<Caller> IdentifyBySocket(const std::string& peer) {
  // Only our own user can open the socket: it is 0600. Of TCP without TLS nothing says whose it is:
  // what the kernel lists of a port is not the connection that we hold.
  if (absl::StartsWith(peer, "unix:")) {
    return Caller{Role::kOwner, UserOf(geteuid()), "", "", peer};
  }
  return absl::PermissionDeniedError(
      absl::StrCat("caller ", peer, ": neither by a unix socket nor over TLS"));
}

}  // namespace

const char* Name(Role role) {
  constexpr std::array kNames = {"owner",      "user",  "client", "agent",
                                 "controller", "token", "reader"};
  return kNames[static_cast<std::size_t>(role)];
}

std::string ToText(const Caller& caller) {
  const std::string who =
      caller.role == Role::kAgent ? absl::StrCat("agent ", caller.node)
      : caller.role == Role::kController
          ? std::string("controller")
          : absl::StrCat(Name(caller.role), " ", caller.user.name, " (uid ", caller.user.uid, ")");
  return absl::StrCat(who, caller.proof.empty() ? "" : " by ", caller.proof, " from ", caller.peer);
}

absl::StatusOr<Caller> Identify(const Transport& transport, std::string_view revoked) {
  if (transport.tokens_only || transport.shows_token) {
    return IdentifyByToken(transport);
  }
  if (!transport.tls) {
    return IdentifyBySocket(transport.peer);
  }
  return transport.certificate.empty() ? IdentifyByMunge(transport)
                                       : IdentifyByCertificate(transport, revoked);
}

bool IsOperator(const Caller& caller) {
  return caller.user.uid == 0 || caller.user.uid == geteuid();
}

bool MaySee(const Caller& caller, const std::string& owner) {
  return IsOperator(caller) || caller.user.name == owner;
}

absl::Status MayCall(const Caller& caller, std::string_view method) {
  const Row* row = FindRow(method);
  const std::string name(method.substr(method.rfind('/') + 1));
  const std::string who = caller.role == Role::kAgent ? absl::StrCat("the agent of ", caller.node)
                          : caller.user.name.empty()  ? std::string(Name(caller.role))
                                                      : caller.user.name;
  if (row == nullptr || (row->roles & Bit(caller.role)) == 0) {
    return absl::PermissionDeniedError(
        absl::StrCat(name, ": ", who, " may not call this as ", Name(caller.role)));
  }
  if (row->rule == Rule::kOperator && !IsOperator(caller)) {
    return absl::PermissionDeniedError(
        absl::StrCat(name, ": ", who, " may not: this is for root and ", UserOf(geteuid()).name,
                     ", who runs the controller"));
  }
  return absl::OkStatus();
}

std::vector<std::string> AllMethods() {
  std::vector<std::string> methods;
  AddMethods(*wire::PingRequest::descriptor()->file()->FindServiceByName("Controller"), methods);
  AddMethods(*wire::AgentMessage::descriptor()->file()->FindServiceByName("AgentLink"), methods);
  return methods;
}

absl::Status CheckEveryMethodHasARow() {
  for (const std::string& method : AllMethods()) {
    if (FindRow(method) == nullptr) {
      return absl::NotFoundError(absl::StrCat("no access rule for ", method));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon
