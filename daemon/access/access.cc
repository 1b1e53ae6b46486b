#include "daemon/access/access.h"

#include <unistd.h>

#include <array>
#include <functional>
#include <map>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access.pb.h"
#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "proto/convert/client_service.h"
#include "proto/leadership.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;
using Roles = std::uint8_t;

constexpr Roles Bit(Role role) {
  return static_cast<Roles>(1U << static_cast<unsigned>(role));
}

// The roles that callers of that kind have.
Roles RolesOf(wire::Callers callers) {
  constexpr Roles kInPerson = Bit(Role::kOwner) | Bit(Role::kUser);
  constexpr Roles kMinters = kInPerson | Bit(Role::kClient);
  constexpr Roles kPeople = kMinters | Bit(Role::kToken);
  switch (callers) {
    case wire::CALLERS_READERS:
      return kPeople | Bit(Role::kReader);
    case wire::CALLERS_PEOPLE:
      return kPeople;
    case wire::CALLERS_MINTERS:
      return kMinters;
    case wire::CALLERS_IN_PERSON:
      return kInPerson;
    case wire::CALLERS_NODES:
      return Bit(Role::kOwner) | Bit(Role::kAgent);
    default:
      return 0;
  }
}

struct Row {
  Roles roles = 0;
  bool operators_only = false;
  bool coordinators = false;  // and those
};

std::vector<const ServiceDescriptor*> Services() {
  return {wire::PingRequest::descriptor()->file()->FindServiceByName("Controller"),
          wire::ReadControllerStatusRequest::descriptor()->file()->FindServiceByName("Leadership"),
          wire::AgentMessage::descriptor()->file()->FindServiceByName("AgentLink")};
}

// The table: what the methods say of themselves.
const std::map<std::string, Row, std::less<>>& Table() {
  static const std::map<std::string, Row, std::less<>> table = [] {
    std::map<std::string, Row, std::less<>> rows;
    for (const ServiceDescriptor* const service : Services()) {
      for (int i = 0; i < service->method_count(); ++i) {
        const MethodDescriptor& method = *service->method(i);
        const wire::Access& access = method.options().GetExtension(wire::access);
        rows[MethodPath(method)] = Row{RolesOf(access.callers()),
                                       access.rule() == wire::ACCESS_RULE_OPERATOR ||
                                           access.rule() == wire::ACCESS_RULE_COORDINATOR,
                                       access.rule() == wire::ACCESS_RULE_COORDINATOR};
      }
    }
    return rows;
  }();
  return table;
}

// Null when nobody may call the method.
const Row* FindRow(std::string_view method) {
  const auto found = Table().find(method);
  return found == Table().end() || found->second.roles == 0 ? nullptr : &found->second;
}

// A user whom nobody is: what an agent or a controller must not do as itself.
constexpr uid_t kNobody = static_cast<uid_t>(-1);

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
  return caller.powers.operates || caller.user.uid == 0 || caller.user.uid == geteuid();
}

Actor ActorOf(const Caller& caller) {
  Actor actor(caller.user, caller.powers.operates, caller.powers.coordinates);
  actor.told_owners = !Hides(caller, Private::kJobs);
  return actor;
}

bool Hides(const Caller& caller, Private what) {
  return !IsOperator(caller) && (caller.powers.hidden & static_cast<std::uint8_t>(what)) != 0;
}

bool MaySee(const Caller& caller, const std::string& owner) {
  return IsOperator(caller) || caller.user.name == owner;
}

absl::Status NotTheirs(const Caller& caller, std::string_view job, const std::string& owner) {
  return absl::PermissionDeniedError(
      absl::StrCat("job ", std::string(job), ": ",
                   Hides(caller, Private::kJobs) ? "is not yours" : "belongs to " + owner));
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
  const bool coordinates = row->coordinators && !caller.powers.coordinates.empty();
  if (row->operators_only && !coordinates && !IsOperator(caller)) {
    return absl::PermissionDeniedError(
        absl::StrCat(name, ": ", who, " may not: this is for root, ", UserOf(geteuid()).name,
                     ", who runs the controller, and operators",
                     row->coordinators ? " and coordinators" : "", " that [access] names"));
  }
  return absl::OkStatus();
}

std::vector<std::string> AllMethods() {
  std::vector<std::string> methods;
  for (const ServiceDescriptor* const service : Services()) {
    for (int i = 0; i < service->method_count(); ++i) {
      methods.push_back(MethodPath(*service->method(i)));
    }
  }
  return methods;
}

absl::Status CheckEveryMethodHasARow() {
  for (const std::string& method : AllMethods()) {
    if (FindRow(method) == nullptr) {
      return absl::NotFoundError(absl::StrCat(method, ": does not say who may call it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon
