#pragma once

// From options to a request that can be sent: the script, the command, the directories, the
// environment, each checked here so that a mistake costs one line and no job.
//
// Thread promise: the main thread's; reads files, changes nothing. Invariants of what is returned:
// every string is UTF-8 without NUL; work_dir is absolute; a script begins with "#!" and has at
// most kScriptBytesMax bytes.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/request/job_options.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::cli {

inline constexpr std::size_t kScriptBytesMax = std::size_t{4} << 20;

struct Script {
  std::string name;  // for errors and the job's default name
  std::string text;
};

// Reads `path`; "-" is standard input. NotFound, PermissionDenied or InvalidArgument in one line.
absl::StatusOr<Script> LoadScript(const std::string& path);
// The script that runs `command` by /bin/sh.
absl::StatusOr<Script> WrapCommand(const std::string& command);

// Checks that `pattern` can be written, as far as that is known before its %s are filled in.
absl::Status CheckOutput(const std::string& option, const std::string& pattern,
                         const std::string& work_dir);

// Refuses arguments that no message can carry.
absl::Status CheckArguments(const std::vector<std::string>& arguments);

struct Context {
  const Environment& environment;
  bool local = true;     // the controller is on this machine: paths can be checked here
  bool new_job = true;   // false for a step of the job that we are in
  std::string fallback;  // what the job is called without --job-name
};

// Fills in name, working directory, umask and environment, and checks directories and outputs.
absl::Status CompleteRequest(const Context& context, JobRequest* request);

// 32 hex digits from the kernel's random numbers: names a request over all of its retries.
absl::StatusOr<std::string> MakeToken();

}  // namespace muster::cli
