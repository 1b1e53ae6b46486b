#include "daemon/access/handshake_log.h"

#include <grpc/support/log.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace muster::daemon {
namespace {

constexpr const char* kComponent = "access";
constexpr std::size_t kToldMost = 4;

// gRPC calls a function without an object.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::atomic<HandshakeLog*> the_log{nullptr};

void TakeFromGrpc(gpr_log_func_args* args) {
  if (HandshakeLog* const log = the_log.load(); log != nullptr) {
    log->Take(args->message);
  }
}

}  // namespace

HandshakeLog::HandshakeLog(const Logger& log, const Clock& clock, const Acceptor* acceptor)
    : log_(log), clock_(clock), acceptor_(acceptor) {
  the_log = this;
  gpr_set_log_function(TakeFromGrpc);
}

HandshakeLog::~HandshakeLog() {
  gpr_set_log_function(nullptr);
  the_log = nullptr;
}

void HandshakeLog::Take(const std::string& text) {
  const bool handshake = text.find("Handshake failed") != std::string::npos;
  Tell(handshake ? absl::StrCat(": ", text) : absl::StrCat("gRPC: ", text), handshake);
}

void HandshakeLog::Refused(const std::string& method, const std::string& why) {
  Tell(absl::StrCat(", which called ", method, ": ", why), true);
}

void HandshakeLog::Tell(const std::string& text, bool names_a_stranger) {
  int untold = 0;
  {
    const MutexLock lock(&mutex_);
    if (!MayTell(untold)) {
      return;
    }
  }
  log_.Warning(
      kComponent,
      absl::StrCat(names_a_stranger ? absl::StrCat("refused ", Strangers()) : "", text,
                   untold == 0 ? "" : absl::StrCat(" (and ", untold, " lines like this)")));
}

bool HandshakeLog::MayTell(int& untold) {
  const SteadyTime now = clock_.SteadyNow();
  if (second_ == SteadyTime::min() || now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    told_ = 0;
  }
  if (++told_ > kLinesASecond) {
    ++untold_;
    return false;
  }
  untold = std::exchange(untold_, 0);
  return true;
}

std::string HandshakeLog::Strangers() const {
  std::vector<std::string> strangers =
      acceptor_ == nullptr ? std::vector<std::string>() : acceptor_->Strangers();
  if (strangers.empty()) {
    return "a caller that is gone";
  }
  const std::size_t all = strangers.size();
  strangers.resize(std::min(all, kToldMost));
  return absl::StrCat(all == 1 ? "" : "one of ", absl::StrJoin(strangers, ", "),
                      all > kToldMost ? absl::StrCat(" and ", all - kToldMost, " more") : "");
}

}  // namespace muster::daemon
