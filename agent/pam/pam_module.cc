// pam_muster.so: no job on this node, no entry; a session is put into its user's job.
//
// `account` decides, `session` joins. sshd opens the session in the process from which everything
// of the login descends, so that one moves itself: into the job's control group, which holds and
// counts it, and into the job's /tmp. Nothing is thrown into the program that loaded us.

#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <sys/utsname.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "agent/pam/job_doors.h"
#include "agent/pam/module_options.h"

namespace muster::agent {
namespace {

constexpr std::chrono::seconds kLoginPatience{2};

struct Login {
  pam_handle_t* pam = nullptr;
  int flags = 0;
  ModuleOptions options;
  std::string name;
  uid_t uid = 0;
  int denied = PAM_PERM_DENIED;  // what this kind of call returns then
};

std::string NodeName() {
  utsname names = {};
  std::string node = uname(&names) == 0 ? names.nodename : "this node";
  return node.substr(0, node.find('.'));
}

std::optional<uid_t> UserNumber(const char* name) {
  std::vector<char> space(std::size_t{64} * 1024);
  passwd entry = {};
  passwd* found = nullptr;
  return getpwnam_r(name, &entry, space.data(), space.size(), &found) == 0 && found != nullptr
             ? std::optional(found->pw_uid)
             : std::nullopt;
}

// One line, to the log and to who logs in.
int Deny(const Login& login, const std::string& text) {
  pam_syslog(login.pam, LOG_NOTICE, "user %s (%u) refused: %s", login.name.c_str(),
             static_cast<unsigned>(login.uid), text.c_str());
  if ((static_cast<unsigned>(login.flags) & PAM_SILENT) == 0) {
    pam_error(login.pam, "%s", text.c_str());
  }
  return login.denied;
}

// Something is wrong that is not the user's.
int Fail(const Login& login, const std::string& text, const std::string& told) {
  pam_syslog(login.pam, LOG_ERR, "user %s: %s", login.name.c_str(), text.c_str());
  return login.options.deny_on_failure ? Deny(login, told) : PAM_IGNORE;
}

// What it returns when no job is to be joined; nothing: one is, the first of doors.open.
std::optional<int> Judge(const Login& login, const JobDoors& doors) {
  const std::string refusal = RefusalText(doors, NodeName());
  if (!doors.failure.empty()) {
    return Fail(login, doors.failure, refusal);
  }
  if (doors.open.size() == 1 || (doors.open.size() > 1 && !login.options.deny_with_several)) {
    return std::nullopt;
  }
  if (doors.open.empty() && doors.closed.empty() && doors.silent > 0) {
    return Fail(login, "supervisors do not answer", refusal);
  }
  const bool none = doors.open.empty() && doors.closed.empty();
  return none && !login.options.deny_without_job ? PAM_IGNORE : Deny(login, refusal);
}

// Into the group, then into the mounts: what cannot be held does not get further.
std::string Enter(const WayIn& way) {
  if (write(way.procs.get(), "0", 1) != 1) {
    return std::string("cannot enter its control group: ") +
           std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  }
  if (way.mounts.valid() && setns(way.mounts.get(), CLONE_NEWNS) != 0) {
    return std::string("cannot enter its /tmp: ") +
           std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
  }
  return "";
}

int Join(const Login& login, const JobDoors& doors, LoginTime deadline) {
  const JobDoor& door = doors.open.front();
  const WayIn way = AskWayIn(login.options.state, door.attempt, login.uid, deadline);
  const std::string failure = way.failure.empty() ? Enter(way) : way.failure;
  if (!failure.empty()) {
    return Deny(login, "your job " + door.answer.job + " on " + NodeName() +
                           " lets no session in: " + failure);
  }
  if (pam_getenv(login.pam, "XDG_SESSION_ID") != nullptr) {
    pam_syslog(login.pam, LOG_WARNING,
               "pam_systemd is in this service: what the user's systemd starts is in no job; see "
               "pam_muster(8)");
  }
  for (const std::string& variable : way.answer.environment) {
    pam_putenv(login.pam, variable.c_str());
  }
  pam_syslog(login.pam, LOG_INFO, "user %s (%u) is in job %s", login.name.c_str(),
             static_cast<unsigned>(login.uid), way.answer.job.c_str());
  return PAM_SUCCESS;
}

int Run(pam_handle_t* pam, int flags, int count, const char** words, bool joins) {
  const LoginTime deadline = std::chrono::steady_clock::now() + kLoginPatience;
  Login login;
  login.pam = pam;
  login.flags = flags;
  login.options = ParseModuleOptions({words, words + count});
  login.denied = joins ? PAM_SESSION_ERR : PAM_PERM_DENIED;
  const char* name = nullptr;
  if (pam_get_user(pam, &name, nullptr) != PAM_SUCCESS || name == nullptr) {
    return PAM_USER_UNKNOWN;
  }
  login.name = name;
  const std::optional<uid_t> uid = UserNumber(name);
  if (!uid.has_value()) {
    return PAM_USER_UNKNOWN;
  }
  login.uid = *uid;
  if (login.uid == 0 && login.options.ignore_root) {
    return PAM_IGNORE;
  }
  if (!login.options.mistake.empty()) {
    pam_syslog(pam, LOG_ERR, "%s", login.options.mistake.c_str());
    return Deny(login, "pam_muster is configured wrongly on " + NodeName() + "; ask its operator");
  }
  const JobDoors doors = FindJobDoors(login.options.state, login.uid, deadline);
  const std::optional<int> judged = Judge(login, doors);
  if (judged.has_value()) {
    return *judged;
  }
  return joins ? Join(login, doors, deadline) : PAM_SUCCESS;
}

int RunSafely(pam_handle_t* pam, int flags, int count, const char** words, bool joins) {
  try {
    return Run(pam, flags, count, words, joins);
  } catch (const std::exception&) {  // no memory
    return joins ? PAM_SESSION_ERR : PAM_PERM_DENIED;
  }
}

}  // namespace
}  // namespace muster::agent

#define MUSTER_EXPORT extern "C" __attribute__((visibility("default")))

MUSTER_EXPORT int pam_sm_acct_mgmt(pam_handle_t* pam, int flags, int count, const char** words) {
  return muster::agent::RunSafely(pam, flags, count, words, /*joins=*/false);
}

MUSTER_EXPORT int pam_sm_open_session(pam_handle_t* pam, int flags, int count, const char** words) {
  return muster::agent::RunSafely(pam, flags, count, words, /*joins=*/true);
}

MUSTER_EXPORT int pam_sm_close_session(pam_handle_t*, int, int, const char**) {
  return PAM_SUCCESS;  // the group goes with the job
}
