#include "cli/run/profiler.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/request/program_path.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

// A user who is not root measures their own processes up to this level. Debian's kernel begins
// with 3, which lets nobody measure anything.
constexpr int kParanoidMost = 2;
constexpr const char* kParanoidFile = "/proc/sys/kernel/perf_event_paranoid";
constexpr const char* kNvidiaFile = "/proc/driver/nvidia/params";

// `programs`: the first that is there is taken. `script` follows kBegin, which sets $o, and may use
// `need PROGRAM`.
struct Profiler {
  const char* name;
  std::array<const char*, 2> programs;
  const char* script;
};

constexpr const char* kBegin = R"(
o=$PWD/$1-$MUSTER_JOB_ID.$MUSTER_STEP_ID.$MUSTER_PROCID; shift
die() { echo "muster: --profile: $1 on $MUSTER_NODE_NAME: $2" >&2; exit 127; }
have() { command -v "$1" >/dev/null 2>&1; }
need() { have "$1" || die "$1 is not installed" "install it there, or add its directory to PATH"; }
)";

// What is there under the output's name is this run's own, of an attempt before it.
constexpr const char* kNsys = R"(need nsys
exec nsys profile --force-overwrite=true --output="$o" "$@")";

constexpr const char* kNcu = R"(need ncu
[ $(id -u) = 0 ] || ! grep -qs 'RmProfilingAdminOnly: 1' /proc/driver/nvidia/params ||
  die 'the driver shows GPU counters to root alone' 'see muster-run(1)'
exec ncu --force-overwrite --target-processes all --export "$o" "$@")";

constexpr const char* kRocprof = R"(
if have rocprofv3; then exec rocprofv3 --sys-trace -d "$o" -o rank -- "$@"; fi
need rocprof
exec rocprof --sys-trace -o "$o.csv" "$@")";

constexpr const char* kPerf = R"(need perf
p=0; read -r p 2>/dev/null </proc/sys/kernel/perf_event_paranoid
[ $(id -u) = 0 ] || [ "$p" -le 2 ] ||
  die "the kernel lets root alone measure, perf_event_paranoid is $p," 'see muster-run(1)'
exec perf record -q -g -o "$o.data" -- "$@")";

// Kineto, PyTorch's profiler, reads KINETO_CONFIG where KINETO_USE_DAEMON has it begin with the
// program, and then traces on SIGUSR2, or when dynolog asks. With CUDA a program crashes where it
// begins before PyTorch is loaded (PyTorch's issue 112389), so it begins later.
constexpr const char* kTorch = R"(
printf '%s\n' ENABLE_SIGUSR2=YES ENABLE_IPC_FABRIC=YES "ACTIVITIES_LOG_FILE=$o.json" \
  ACTIVITIES_DURATION_MSECS=2000 >"$o.conf" || die "$o.conf cannot be written" 'use --chdir'
export KINETO_USE_DAEMON=1 KINETO_CONFIG="$o.conf"
export KINETO_DAEMON_INIT_DELAY_S="${KINETO_DAEMON_INIT_DELAY_S:-5}"
exec "$@")";

constexpr std::array<Profiler, 5> kProfilers = {{{"nsys", {"nsys", nullptr}, kNsys},
                                                 {"ncu", {"ncu", nullptr}, kNcu},
                                                 {"rocprof", {"rocprofv3", "rocprof"}, kRocprof},
                                                 {"perf", {"perf", nullptr}, kPerf},
                                                 {"torch", {nullptr, nullptr}, kTorch}}};

absl::StatusOr<Profiler> FindProfiler(const std::string& tool) {
  std::string names;
  for (const Profiler& profiler : kProfilers) {
    if (tool == profiler.name) {
      return profiler;
    }
    absl::StrAppend(&names, names.empty() ? "" : ", ", profiler.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--profile: ", Quote(tool), " is no profiler that is known: use one of ", names));
}

absl::Status Refused(const std::string& tool, const std::string& problem) {
  return absl::FailedPreconditionError(absl::StrCat("--profile=", tool, ": ", problem));
}

}  // namespace

Option ProfileOption() {
  return {.name = "profile",
          .letter = 0,
          .metavar = "TOOL",
          .text = "Run each rank under nsys, ncu, rocprof, perf or torch, with a file for each"};
}

bool MayMeasure(std::string_view paranoid) {
  int level = 0;
  const std::string text(absl::StripAsciiWhitespace(std::string(paranoid)));
  return !absl::SimpleAtoi(text, &level) || level <= kParanoidMost;
}

bool CountersAreRoots(std::string_view parameters) {
  return parameters.find("RmProfilingAdminOnly: 1") != std::string_view::npos;
}

absl::Status CheckProfiler(const std::string& tool, const std::string& work_dir,
                           const Environment& environment) {
  ASSIGN_OR_RETURN(const Profiler profiler, FindProfiler(tool));
  const bool any =
      std::any_of(profiler.programs.begin(), profiler.programs.end(), [&](const char* program) {
        return program != nullptr && FindProgram(program, work_dir, environment).ok();
      });
  if (profiler.programs.front() != nullptr && !any) {
    return Refused(tool, absl::StrCat(tool,
                                      " is not installed: install it, or add its directory "
                                      "to PATH"));
  }
  if (geteuid() == 0) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> paranoid = ReadFile(kParanoidFile);
  if (tool == "perf" && paranoid.ok() && !MayMeasure(*paranoid)) {
    return Refused(tool,
                   "the kernel lets root alone measure: an administrator sets "
                   "kernel.perf_event_paranoid to 2 by sysctl");
  }
  const absl::StatusOr<std::string> parameters = ReadFile(kNvidiaFile);
  if (tool == "ncu" && parameters.ok() && CountersAreRoots(*parameters)) {
    return Refused(tool,
                   "the driver shows GPU counters to root alone: an administrator loads the "
                   "module nvidia with NVreg_RestrictProfilingToAdminUsers=0");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ProfiledCommand(const std::string& tool,
                                                         const std::vector<std::string>& command) {
  ASSIGN_OR_RETURN(const Profiler profiler, FindProfiler(tool));
  std::vector<std::string> words = {"/bin/sh", "-c", absl::StrCat(kBegin, profiler.script), "sh",
                                    tool};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace muster::cli
