#include "daemon/access.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster {
namespace {

struct Row {
  const char* method;
  bool owner;
  bool key_holder;
};

// Ownership of a job is checked by core/step, which knows it.
constexpr std::array kTable = {
    Row{"/muster.wire.Controller/Ping", true, true},
    Row{"/muster.wire.Controller/Submit", true, true},
    Row{"/muster.wire.Controller/SubmitMany", true, true},
    Row{"/muster.wire.Controller/TestSubmit", true, true},
    Row{"/muster.wire.Controller/Cancel", true, true},
    Row{"/muster.wire.Controller/Hold", true, true},
    Row{"/muster.wire.Controller/Requeue", true, true},
    // Only an operator's, as core/step says.
    Row{"/muster.wire.Controller/Suspend", true, true},
    Row{"/muster.wire.Controller/Update", true, true},
    Row{"/muster.wire.Controller/StartStep", true, true},
    Row{"/muster.wire.Controller/ListJobs", true, true},
    Row{"/muster.wire.Controller/ListHistory", true, true},
    Row{"/muster.wire.Controller/ShowJob", true, true},
    Row{"/muster.wire.Controller/Explain", true, true},
    Row{"/muster.wire.Controller/ListNodes", true, true},
    Row{"/muster.wire.Controller/Drain", true, true},
    Row{"/muster.wire.Controller/CheckHealth", true, true},
    Row{"/muster.wire.Controller/ListHealth", true, true},
    // Only root and the user who runs the controller say who may have what.
    Row{"/muster.wire.Controller/ChangePolicy", true, false},
    Row{"/muster.wire.Controller/ListPolicy", true, true},
    Row{"/muster.wire.Controller/PolicyHistory", true, true},
    Row{"/muster.wire.Controller/ListShares", true, true},
    Row{"/muster.wire.Controller/WatchJob", true, true},
    Row{"/muster.wire.AgentLink/Attach", true, true},
};

const Row* FindRow(std::string_view method) {
  for (const Row& row : kTable) {
    if (method == row.method) {
      return &row;
    }
  }
  return nullptr;
}

absl::Status CheckService(const google::protobuf::ServiceDescriptor& service) {
  for (int i = 0; i < service.method_count(); ++i) {
    const std::string method =
        absl::StrCat("/", service.full_name(), "/", service.method(i)->name());
    if (FindRow(method) == nullptr) {
      return absl::NotFoundError(absl::StrCat("no access rule for ", method));
    }
  }
  return absl::OkStatus();
}

// One line of /proc/net/tcp: "sl local_address rem_address st tx:rx tr:when retrnsmt uid …"
// (proc(5)).
struct TcpLine {
  std::uint16_t local_port = 0;
  bool established = false;
  uid_t uid = 0;
};

bool ParseTcpLine(const std::string& text, TcpLine& line) {
  std::istringstream words(text);
  std::string slot;
  std::string local;
  std::string remote;
  std::string state;
  std::string skipped;
  words >> slot >> local >> remote >> state >> skipped >> skipped >> skipped >> line.uid;
  const std::size_t colon = local.rfind(':');
  unsigned port = 0;
  if (!words || colon == std::string::npos ||
      std::sscanf(local.c_str() + colon + 1, "%x", &port) != 1) {
    return false;
  }
  line.local_port = static_cast<std::uint16_t>(port);
  line.established = state == "01";
  return true;
}

absl::StatusOr<std::uint16_t> PortOf(const std::string& peer) {
  const std::size_t colon = peer.rfind(':');
  unsigned port = 0;
  if (colon == std::string::npos || !absl::SimpleAtoi(peer.substr(colon + 1), &port) ||
      port > 65535) {
    return absl::PermissionDeniedError(absl::StrCat("caller ", peer, ": cannot tell who that is"));
  }
  return static_cast<std::uint16_t>(port);
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

absl::StatusOr<uid_t> OwnerOfLoopbackPort(std::uint16_t port) {
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const absl::StatusOr<std::string> table = ReadFile(path);
    if (!table.ok()) {
      continue;
    }
    std::istringstream lines(*table);
    std::string text;
    std::getline(lines, text);
    while (std::getline(lines, text)) {
      TcpLine line;
      if (ParseTcpLine(text, line) && line.established && line.local_port == port) {
        return line.uid;
      }
    }
  }
  return absl::NotFoundError(absl::StrCat("no connection from port ", port));
}

absl::StatusOr<Caller> Identify(const std::string& peer, bool authenticated) {
  if (authenticated) {
    return Caller{Role::kKeyHolder, UserOf(geteuid())};
  }
  // Only our own user can open the socket: its directory is 0700 and it is 0600.
  if (absl::StartsWith(peer, "unix:")) {
    return Caller{Role::kOwner, UserOf(geteuid())};
  }
  if (!absl::StartsWith(peer, "ipv4:127.") && !absl::StartsWith(peer, "ipv6:%5B::1%5D") &&
      !absl::StartsWith(peer, "ipv6:[::1]")) {
    return absl::PermissionDeniedError(
        absl::StrCat("caller ", peer, ": not on loopback and without a certificate"));
  }
  ASSIGN_OR_RETURN(const std::uint16_t port, PortOf(peer));
  const absl::StatusOr<uid_t> uid = OwnerOfLoopbackPort(port);
  if (!uid.ok() || (*uid != geteuid() && *uid != 0)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "caller ", peer, ": the connection belongs to ",
        uid.ok() ? absl::StrCat("user ", *uid) : std::string("nobody that the kernel knows"),
        "; this controller serves user ", geteuid()));
  }
  return Caller{Role::kOwner, UserOf(*uid)};
}

absl::Status MayCall(const Caller& caller, std::string_view method) {
  const Row* row = FindRow(method);
  if (row == nullptr || !(caller.role == Role::kOwner ? row->owner : row->key_holder)) {
    return absl::PermissionDeniedError(
        absl::StrCat(std::string(method), ": ", caller.user.name, " may not call this"));
  }
  return absl::OkStatus();
}

absl::Status CheckEveryMethodHasARow() {
  RETURN_IF_ERROR(
      CheckService(*wire::PingRequest::descriptor()->file()->FindServiceByName("Controller")));
  return CheckService(*wire::AgentMessage::descriptor()->file()->FindServiceByName("AgentLink"));
}

}  // namespace muster
