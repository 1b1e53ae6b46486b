#include "cli/tell/desktop.h"

#include <unistd.h>

#include <chrono>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "cli/request/program_path.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/program_answer.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kPatience{10};

absl::StatusOr<std::string> FindNotifySend(const Environment& environment) {
  absl::StatusOr<std::string> found = FindProgram("notify-send", "/", environment);
  return found.ok() ? found
                    : absl::FailedPreconditionError(
                          "the desktop is told by notify-send, which is not in PATH: install "
                          "libnotify-bin");
}

bool HasBus(const Environment& environment) {
  const std::string runtime = environment.Get("XDG_RUNTIME_DIR");
  return !environment.Get("DBUS_SESSION_BUS_ADDRESS").empty() ||
         (!runtime.empty() && access(absl::StrCat(runtime, "/bus").c_str(), F_OK) == 0);
}

}  // namespace

absl::Status CheckDesktop(const Environment& environment) {
  RETURN_IF_ERROR(FindNotifySend(environment).status());
  return HasBus(environment)
             ? absl::OkStatus()
             : absl::FailedPreconditionError(
                   "there is no desktop here to tell (no session bus): ask where you sit, or use "
                   "--notify=mail");
}

absl::Status ShowOnDesktop(const Environment& environment, const std::string& line) {
  SpawnRequest request;
  ASSIGN_OR_RETURN(request.program, FindNotifySend(environment));
  request.arguments = {"notify-send", "--app-name=Muster", "--", "Muster", line};
  request.environment = environment.entries();
  ASSIGN_OR_RETURN(const ProgramAnswer answer, AnswerOf(request, AnswerStreams::kBoth, kPatience));
  return answer.success ? absl::OkStatus()
                        : absl::UnavailableError(absl::StrCat("notify-send: ", answer.text));
}

}  // namespace muster::cli
