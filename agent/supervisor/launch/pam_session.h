#pragma once

// A PAM session around a job: opened by the supervisor as root before it starts anything as the
// user, closed after the last process (The Open Group, X/SSO; Linux-PAM, pam_open_session(3)).
//
// libpam is loaded when a site asks for it and not before. What modules do to the calling process
// (resource limits, priority, umask, groups) is taken off us again: limits and priority are kept
// for the job's processes, the others are the job's own. Thread promise: the supervisor's thread,
// which waits for the modules. Invariant: a session that was opened is closed once, unless we are
// killed.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/user_space/job_user.h"

namespace muster::agent {

// Set for supervisors: the service, by its name in /etc/pam.d, or as the path of a file like those.
inline constexpr const char* kPamService = "MUSTER_PAM_SERVICE";

// The file that says what the service is.
inline std::string PamServiceFile(const std::string& service) {
  return service.rfind('/', 0) == 0 ? service : "/etc/pam.d/" + service;
}

class PamSession {
 public:
  // An error is one line, with the modules' messages.
  static absl::StatusOr<std::unique_ptr<PamSession>> Open(const std::string& service,
                                                          const std::string& user);
  virtual ~PamSession() = default;
  PamSession(const PamSession&) = delete;
  PamSession& operator=(const PamSession&) = delete;

  // What every process of the job is to have of it.
  [[nodiscard]] const SessionTraits& traits() const { return traits_; }

 protected:
  PamSession() = default;
  SessionTraits traits_;
};

// Adds the session's variables of which there are none: what the job brought with it goes before.
void AddSessionVariables(const std::vector<std::string>& session,
                         std::vector<std::string>* environment);

}  // namespace muster::agent
