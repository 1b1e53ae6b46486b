#include "agent/supervisor/launch/pam_session.h"

#include <dlfcn.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

// The part of libpam's ABI that we use (Linux-PAM, security/pam_appl.h and _pam_types.h).
struct PamHandle;
struct PamMessage {
  int style;
  const char* text;
};
struct PamResponse {
  char* text;
  int unused;
};
struct PamConversation {
  int (*converse)(int, const PamMessage**, PamResponse**, void*);
  void* context;
};
constexpr int kSuccess = 0;
constexpr int kConversationError = 19;  // PAM_CONV_ERR
constexpr int kPromptEchoOff = 1;       // PAM_PROMPT_ECHO_OFF
constexpr int kPromptEchoOn = 2;
constexpr int kTerminalName = 3;  // PAM_TTY

struct Library {
  int (*start)(const char*, const char*, const PamConversation*, PamHandle**) = nullptr;
  int (*start_in)(const char*, const char*, const PamConversation*, const char*,
                  PamHandle**) = nullptr;
  int (*end)(PamHandle*, int) = nullptr;
  int (*set_item)(PamHandle*, int, const void*) = nullptr;
  int (*open_session)(PamHandle*, int) = nullptr;
  int (*close_session)(PamHandle*, int) = nullptr;
  char** (*environment)(PamHandle*) = nullptr;
  const char* (*error_text)(PamHandle*, int) = nullptr;
};

// It stays loaded to the end of the process, as its modules' exit handlers may want.
absl::StatusOr<Library> LoadPam() {
  void* const loaded = dlopen("libpam.so.0", RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (loaded == nullptr) {
    const char* const reason =
        dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it by thread
    return absl::FailedPreconditionError(
        absl::StrCat("cannot load libpam: ", reason, ": install libpam0g"));
  }
  Library pam;
  const auto find = [loaded](const char* name, auto& function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(loaded, name));
    return function != nullptr;
  };
  const bool whole =
      find("pam_start", pam.start) && find("pam_end", pam.end) &&
      find("pam_set_item", pam.set_item) && find("pam_open_session", pam.open_session) &&
      find("pam_close_session", pam.close_session) && find("pam_getenvlist", pam.environment) &&
      find("pam_strerror", pam.error_text);
  find("pam_start_confdir", pam.start_in);  // since 1.4
  return whole ? absl::StatusOr<Library>(pam)
               : absl::FailedPreconditionError("this libpam lacks functions of Linux-PAM");
}

// What a process has that modules may change, and that is not to stay with us.
class OwnTraits {
 public:
  OwnTraits() : mask_(umask(077)) {
    umask(mask_);
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      getrlimit(static_cast<__rlimit_resource_t>(i), &limits_[i]);
    }
    errno = 0;
    priority_ = getpriority(PRIO_PROCESS, 0);
    groups_.resize(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
    if (getgroups(static_cast<int>(groups_.size()), groups_.data()) < 0) {
      groups_.clear();
    }
  }

  // Takes back what has changed meanwhile, and says what limits and priority were then. Without the
  // capability to raise a hard limit or a priority again (a container's root) we live with them,
  // too.
  absl::Status Restore(SessionTraits& changed) const {
    umask(mask_);
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      const auto resource = static_cast<__rlimit_resource_t>(i);
      rlimit now = {};
      if (getrlimit(resource, &now) == 0 &&
          (now.rlim_cur != limits_[i].rlim_cur || now.rlim_max != limits_[i].rlim_max)) {
        changed.limits.push_back({static_cast<int>(i), now});
        const rlimit nearest = {std::min(limits_[i].rlim_cur, now.rlim_max), now.rlim_max};
        if (setrlimit(resource, &limits_[i]) != 0) {
          setrlimit(resource, &nearest);
        }
      }
    }
    if (const int priority = getpriority(PRIO_PROCESS, 0); priority != priority_) {
      changed.priority = priority;
      setpriority(PRIO_PROCESS, 0, priority_);
    }
    return setgroups(groups_.size(), groups_.data()) == 0
               ? absl::OkStatus()
               : absl::ErrnoToStatus(errno, "cannot take back our own groups");
  }

 private:
  mode_t mask_;
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  int priority_ = 0;
  std::vector<gid_t> groups_;
};

class OpenSession final : public PamSession {
 public:
  explicit OpenSession(const Library& pam) : pam_(pam) {}
  ~OpenSession() override {
    if (opened_) {
      const OwnTraits own;
      last_ = pam_.close_session(handle_, 0);
      SessionTraits ignored;
      own.Restore(ignored).IgnoreError();
    }
    if (handle_ != nullptr) {
      pam_.end(handle_, last_);
    }
  }

  absl::Status Begin(const std::string& service, const std::string& user) {
    const std::filesystem::path path = service;
    const PamConversation conversation = {Converse, this};
    if (path.is_absolute() && pam_.start_in == nullptr) {
      return absl::FailedPreconditionError(
          "this libpam is older than 1.4: name a service of /etc/pam.d");
    }
    last_ = path.is_absolute() ? pam_.start_in(path.filename().c_str(), user.c_str(), &conversation,
                                               path.parent_path().c_str(), &handle_)
                               : pam_.start(service.c_str(), user.c_str(), &conversation, &handle_);
    if (last_ == kSuccess) {
      last_ = pam_.set_item(handle_, kTerminalName, "muster");
    }
    if (last_ == kSuccess) {
      const OwnTraits own;
      last_ = pam_.open_session(handle_, 0);
      opened_ = last_ == kSuccess;
      RETURN_IF_ERROR(own.Restore(traits_));
    }
    if (last_ != kSuccess) {
      return absl::PermissionDeniedError(absl::StrCat(
          "PAM service ", service, " opens no session for user ", user, ": ",
          pam_.error_text(handle_, last_), said_.empty() ? "" : ": ", EscapeControl(said_)));
    }
    TakeEnvironment();
    return absl::OkStatus();
  }

 private:
  // Nobody is there to answer; what modules have to say is kept for the reason.
  static int Converse(int count, const PamMessage** messages, PamResponse** responses,
                      void* context) {
    constexpr std::size_t kSaidMax = 200;
    auto* const session = static_cast<OpenSession*>(context);
    for (int i = 0; i < count; ++i) {
      const PamMessage& message = *messages[i];
      if (message.style == kPromptEchoOff || message.style == kPromptEchoOn) {
        return kConversationError;
      }
      if (message.text != nullptr && session->said_.size() < kSaidMax) {
        absl::StrAppend(&session->said_, session->said_.empty() ? "" : " | ",
                        std::string(message.text).substr(0, kSaidMax));
      }
    }
    // libpam frees it.
    *responses = static_cast<PamResponse*>(
        calloc(static_cast<std::size_t>(std::max(count, 1)), sizeof(PamResponse)));
    return *responses == nullptr ? kConversationError : kSuccess;
  }

  void TakeEnvironment() {
    char** const variables = pam_.environment(handle_);
    for (char** variable = variables; variables != nullptr && *variable != nullptr; ++variable) {
      traits_.environment.emplace_back(*variable);
      free(*variable);
    }
    free(static_cast<void*>(variables));
  }

  const Library pam_;
  PamHandle* handle_ = nullptr;
  int last_ = kSuccess;  // what the last call said
  bool opened_ = false;
  std::string said_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PamSession>> PamSession::Open(const std::string& service,
                                                             const std::string& user) {
  ASSIGN_OR_RETURN(const Library pam, LoadPam());
  auto session = std::make_unique<OpenSession>(pam);
  RETURN_IF_ERROR(session->Begin(service, user));
  return session;
}

void AddSessionVariables(const std::vector<std::string>& session,
                         std::vector<std::string>* environment) {
  for (const std::string& variable : session) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    const bool there =
        std::any_of(environment->begin(), environment->end(),
                    [&name](const std::string& each) { return absl::StartsWith(each, name); });
    if (!there) {
      environment->push_back(variable);
    }
  }
}

}  // namespace muster::agent
