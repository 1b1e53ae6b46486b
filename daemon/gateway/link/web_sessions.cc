#include "daemon/gateway/link/web_sessions.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/private_file.h"
#include "scheduler/runtime/mac.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kSessionBytes = 32;
constexpr std::size_t kCodeLettersMin = 20;
// Tells a session from a token, which has dots.
constexpr std::string_view kMark = "web_";
constexpr std::string_view kPurpose = "muster web link";

absl::Status NoSuchCode() {
  return absl::UnauthenticatedError(
      "this link was used before, or is too old; make another: muster web");
}

}  // namespace

std::string WebSessions::FileOf(const std::string& code) {
  return absl::BytesToHexString(MacOf(kPurpose, {code}));
}

absl::StatusOr<std::string> WebSessions::Redeem(const std::string& code) {
  if (links_.empty() || code.size() < kCodeLettersMin) {
    return NoSuchCode();
  }
  // Whoever renames the file has it, and nobody else: a code counts once.
  const std::string file = absl::StrCat(links_, "/", FileOf(code));
  const std::string taken = file + ".taken";
  if (rename(file.c_str(), taken.c_str()) != 0) {
    return NoSuchCode();
  }
  struct stat info = {};
  const bool there = stat(taken.c_str(), &info) == 0;
  absl::StatusOr<std::string> token = ReadPrivateFile(taken);
  unlink(taken.c_str());
  const Time written(std::chrono::seconds(info.st_mtim.tv_sec));
  if (!there || !token.ok() || clock_.Now() - written > kCodeLife) {
    return NoSuchCode();
  }
  ASSIGN_OR_RETURN(const std::string random, RandomBytes(kSessionBytes));
  std::string session = absl::StrCat(std::string(kMark), absl::WebSafeBase64Escape(random));
  const SteadyTime now = clock_.SteadyNow();
  const MutexLock lock(&mutex_);
  std::erase_if(sessions_, [now](const auto& entry) { return entry.second.ends <= now; });
  if (sessions_.size() >= kSessionsMax) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second.ends < b.second.ends; }));
  }
  sessions_[session] = {*std::move(token), now + kSessionLife};
  return session;
}

std::string WebSessions::TokenOf(const std::string& bearer) const {
  if (bearer.compare(0, kMark.size(), kMark) != 0) {
    return bearer;
  }
  const MutexLock lock(&mutex_);
  const auto found = sessions_.find(bearer);
  return found == sessions_.end() || found->second.ends <= clock_.SteadyNow() ? ""
                                                                              : found->second.token;
}

void WebSessions::End(const std::string& session) {
  const MutexLock lock(&mutex_);
  sessions_.erase(session);
}

}  // namespace muster::daemon
