#include "cli/simulate/power_options.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/simulate/named_words.h"
#include "cli/simulate/trace_options.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kWattsMax = 1'000'000;
constexpr std::uint32_t kKeptOnMax = 1'000'000;

absl::Status ReadWatts(const Words& words, PowerClass* kind) {
  for (const char* name : {"busy-watts", "idle-watts", "off-watts"}) {
    if (words.count(name) == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("say what a node takes: ", name, "=N is missing"));
    }
  }
  ASSIGN_OR_RETURN(kind->busy_watts, NumberOf(words, "busy-watts", kWattsMax, 0));
  ASSIGN_OR_RETURN(kind->idle_watts, NumberOf(words, "idle-watts", kWattsMax, 0));
  ASSIGN_OR_RETURN(kind->off_watts, NumberOf(words, "off-watts", kWattsMax, 0));
  if (kind->busy_watts < kind->idle_watts || kind->idle_watts <= kind->off_watts) {
    return absl::InvalidArgumentError(
        absl::StrCat("busy-watts ", kind->busy_watts, ", idle-watts ", kind->idle_watts,
                     ", off-watts ", kind->off_watts,
                     ": a busy node takes at least what an idle one does, and that takes more than "
                     "one that is off"));
  }
  return absl::OkStatus();
}

}  // namespace

Option PowerOption() {
  return MakeOption("power", "HOW",
                    "Idle nodes go off: idle=10m,suspend=30s,boot=2m,busy-watts=350,"
                    "idle-watts=150,off-watts=10,keep-on=0,rate=0");
}

absl::StatusOr<PowerClass> ParsePower(const std::string& text) {
  ASSIGN_OR_RETURN(const Words words,
                   ReadWords(text, {"idle", "suspend", "boot", "busy-watts", "idle-watts",
                                    "off-watts", "keep-on", "rate"}));
  PowerClass kind;
  kind.name = "all";
  kind.nodes = "ALL";
  ASSIGN_OR_RETURN(const std::int64_t idle, SecondsOf(words, "idle", 0));
  if (idle <= 0) {
    return absl::InvalidArgumentError(
        "say how long a node is idle before it is switched off: idle=10m");
  }
  kind.idle = std::chrono::seconds(idle);
  const std::pair<const char*, Duration*> times[] = {{"suspend", &kind.suspend_time},
                                                     {"boot", &kind.boot_time}};
  for (const auto& [name, time] : times) {
    const auto otherwise = std::chrono::duration_cast<std::chrono::seconds>(*time).count();
    ASSIGN_OR_RETURN(const std::int64_t given, SecondsOf(words, name, otherwise));
    *time = std::chrono::seconds(given);
  }
  if (kind.suspend_time <= Duration(0)) {
    return absl::InvalidArgumentError("suspend: a node takes a while to shut down: suspend=30s");
  }
  if (kind.boot_time <= Duration(0)) {
    return absl::InvalidArgumentError("boot: a node takes a while to boot: boot=2m");
  }
  kind.resume_timeout = 2 * kind.boot_time + std::chrono::minutes(1);  // every boot succeeds
  RETURN_IF_ERROR(ReadWatts(words, &kind));
  ASSIGN_OR_RETURN(kind.keep_on, NumberOf(words, "keep-on", kKeptOnMax, 0));
  ASSIGN_OR_RETURN(kind.rate, NumberOf(words, "rate", kKeptOnMax, 0));
  return kind;
}

absl::Status ReadPowerOption(const Invocation& invocation, sim::ClusterRun* run) {
  if (!invocation.Has("power")) {
    return absl::OkStatus();
  }
  absl::StatusOr<PowerClass> kind = ParsePower(invocation.Value("power"));
  if (!kind.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--power: ", std::string(kind.status().message())));
  }
  run->config.power.assign(1, *std::move(kind));
  return absl::OkStatus();
}

absl::Status RefusePowerOption(const Invocation& invocation) {
  return invocation.Has("power")
             ? absl::InvalidArgumentError(
                   "--power: only the nodes of a cluster are switched off: add --nodes N "
                   "--cpus-per-node C, or --cluster FILE")
             : absl::OkStatus();
}

}  // namespace muster::cli
