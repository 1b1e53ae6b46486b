#include "cli/request/request.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/parse/number.h"
#include "cli/parse/request/container.h"
#include "cli/parse/request/stage_words.h"
#include "cli/request/container/container_paths.h"
#include "cli/request/container/image_digest.h"
#include "cli/request/given_variables.h"
#include "cli/request/record/run_record.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/job/container.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameBytesMax = 200;
constexpr std::size_t kArgumentsBytesMax = std::size_t{2} << 20;

// "PATH: WHAT: what the kernel said: MEND". Never InvalidArgument: the usage was right.
absl::Status ErrnoAt(int error, const std::string& path, const char* what, const char* mend) {
  const absl::Status status = absl::ErrnoToStatus(error, absl::StrCat(path, ": ", what));
  const absl::StatusCode code =
      absl::IsInvalidArgument(status) ? absl::StatusCode::kFailedPrecondition : status.code();
  return absl::Status(code, absl::StrCat(std::string(status.message()), ": ", mend));
}

// Up to kScriptBytesMax + 1 bytes of `fd`.
absl::StatusOr<std::string> ReadAll(int fd, const std::string& name) {
  std::string text;
  std::array<char, 65536> buffer = {};
  while (text.size() <= kScriptBytesMax) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return ErrnoAt(errno, name, "cannot read the script", "name a readable file");
    }
    if (got == 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

absl::Status CheckScript(const Script& script) {
  const auto refuse = [&script](const char* problem) {
    return absl::InvalidArgumentError(absl::StrCat(script.name, ": ", problem));
  };
  if (script.text.size() > kScriptBytesMax) {
    return refuse("the script is larger than 4 MiB: move data out of it");
  }
  if (script.text.rfind("#!", 0) != 0) {
    return refuse("the script does not begin with #!: make its first line #!/bin/sh");
  }
  if (script.text.find('\0') != std::string::npos) {
    return refuse("the script holds a NUL byte: is it a program? use --wrap to run one");
  }
  if (!IsUtf8(script.text)) {
    return refuse("the script is not UTF-8: convert it with iconv");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> CurrentDirectory() {
  std::error_code error;
  std::string directory = std::filesystem::current_path(error).string();
  if (error) {
    return absl::FailedPreconditionError(
        "the current directory is gone: cd to one that exists or use --chdir");
  }
  return directory;
}

absl::Status CheckWorkDirectory(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) {
    return ErrnoAt(errno, path, "cannot use the working directory", "use --chdir DIR");
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": the working directory is not a directory: use --chdir DIR"));
  }
  if (access(path.c_str(), X_OK) != 0) {
    return ErrnoAt(errno, path, "cannot enter the working directory", "use --chdir DIR");
  }
  return absl::OkStatus();
}

absl::Status CheckInput(const std::string& pattern, const std::string& work_dir) {
  if (pattern.empty() || pattern.find('%') != std::string::npos) {
    return absl::OkStatus();
  }
  const std::string path = (std::filesystem::path(work_dir) / pattern).string();
  return access(path.c_str(), R_OK) == 0 ? absl::OkStatus()
                                         : ErrnoAt(errno, absl::StrCat("--input: ", path),
                                                   "cannot be read", "choose another file");
}

absl::Status CheckPaths(const JobSpec& spec, const Program& program) {
  RETURN_IF_ERROR(CheckWorkDirectory(program.work_dir));
  if (spec.kind == JobKind::kRun) {
    return absl::OkStatus();
  }
  const std::string output = program.stdout_path.empty() ? "muster-%j.out" : program.stdout_path;
  RETURN_IF_ERROR(CheckOutput("--output", output, program.work_dir));
  if (!program.stderr_path.empty()) {
    RETURN_IF_ERROR(CheckOutput("--error", program.stderr_path, program.work_dir));
  }
  return CheckInput(program.stdin_path, program.work_dir);
}

// The process's umask: only /proc tells it without changing it.
std::uint32_t CurrentUmask() {
  const mode_t mask = umask(077);
  umask(mask);
  return mask;
}

absl::Status CheckProgress(const JobSpec& spec, const Program& program) {
  return program.progress_path.empty() || spec.progress_timeout > Duration(0)
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "--progress-file: has no effect without --progress-timeout; add that");
}

// What starts the script is not there in a container, and CRIU does not go on with what runs
// beside.
absl::Status CheckObject(const JobRequest& request) {
  if (request.checkpoint_object.empty()) {
    return absl::OkStatus();
  }
  const char* const with = request.spec.container.given() ? "--container-image"
                           : request.spec.checkpoint_with == CheckpointMeans::kCriu
                               ? "--checkpoint-with=criu"
                               : nullptr;
  return with == nullptr
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(
                   "--checkpoint-object: does not work with ", with,
                   "; copy by muster checkpoint push in a job of its own, or leave one out"));
}

// They travel in the job's environment, where its supervisor finds them.
void AddCheckpointVariables(JobRequest* request) {
  std::vector<std::string>& assignments = request->exports.assignments;
  if (!request->checkpoint_object.empty()) {
    assignments.push_back("MUSTER_CHECKPOINT_OBJECT=" + request->checkpoint_object);
  }
  if (!request->checkpoint_dir.empty()) {
    const std::filesystem::path path = request->program.work_dir;
    assignments.push_back("MUSTER_SUBMIT_CHECKPOINT_DIR=" +
                          (path / request->checkpoint_dir).lexically_normal().string());
  }
  if (!request->checkpoint_interval.empty()) {
    assignments.push_back("MUSTER_CHECKPOINT_INTERVAL=" + request->checkpoint_interval);
  }
}

// --export-file: its variables instead of the submitter's, unless --export names those too.
absl::Status AddExportFile(JobRequest* request) {
  if (request->export_file.empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> variables, VariablesIn(request->export_file));
  const std::vector<std::string>& said = request->said;
  ExportList& exports = request->exports;
  exports.all = exports.all && std::find(said.begin(), said.end(), "export") != said.end();
  exports.assignments.insert(exports.assignments.begin(), variables.begin(), variables.end());
  return absl::OkStatus();
}

// What the supervisor and the accounting know of the submission, in the environment too.
absl::Status AddSubmission(bool new_job, JobRequest* request) {
  std::vector<std::string>& assignments = request->exports.assignments;
  assignments.push_back("MUSTER_SUBMIT_SAID=" + absl::StrJoin(request->said, ","));
  if (!new_job) {
    return absl::OkStatus();
  }
  std::array<char, HOST_NAME_MAX + 1> host = {};
  if (gethostname(host.data(), host.size() - 1) == 0 && IsUtf8(host.data())) {
    assignments.push_back(absl::StrCat("MUSTER_SUBMIT_HOST=", host.data()));
  }
  ASSIGN_OR_RETURN(const std::string directory, CurrentDirectory());
  if (IsUtf8(directory)) {
    assignments.push_back("MUSTER_SUBMIT_DIR=" + directory);
  }
  return absl::OkStatus();
}

// A step's is its program's.
absl::Status FillContainer(const Context& context, JobRequest* request) {
  constexpr std::chrono::seconds kRegistryPatience{3};
  ContainerSpec& container = request->spec.container;
  if (container == ContainerSpec()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string current, CurrentDirectory());
  MakeAbsolute(current, &container);
  RETURN_IF_ERROR(CheckContainer(container));
  RETURN_IF_ERROR(CheckContainerPaths(container));
  ASSIGN_OR_RETURN(request->image_machine,
                   PinImage(context.environment.entries(), kRegistryPatience, &container));
  if (!context.new_job) {
    request->program.container = std::exchange(container, ContainerSpec());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOutput(const std::string& option, const std::string& pattern,
                         const std::string& work_dir) {
  const std::filesystem::path path = std::filesystem::path(work_dir) / pattern;
  const std::string name = absl::StrCat(option, ": ", path.string());
  struct stat info = {};
  if (pattern.find('%') == std::string::npos && stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) {
      return absl::FailedPreconditionError(absl::StrCat(name, ": is a directory: name a file"));
    }
    return access(path.c_str(), W_OK) == 0
               ? absl::OkStatus()
               : ErrnoAt(errno, name, "cannot be written", "choose another file");
  }
  const std::string directory = path.parent_path().string();
  if (directory.find('%') != std::string::npos) {
    return absl::OkStatus();
  }
  const std::string where = absl::StrCat(option, ": ", directory);
  if (stat(directory.c_str(), &info) != 0) {
    return ErrnoAt(errno, where, "cannot hold the output", "make the directory first");
  }
  if (!S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(where, ": is not a directory"));
  }
  return access(directory.c_str(), W_OK | X_OK) == 0
             ? absl::OkStatus()
             : ErrnoAt(errno, where, "cannot be written", "choose another directory");
}

absl::StatusOr<Script> LoadScript(const std::string& path) {
  Script script;
  script.name = path == "-" ? "stdin" : path;
  UniqueFd file;
  int fd = STDIN_FILENO;
  if (path != "-") {
    file.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
    fd = file.get();
    struct stat info = {};
    if (fd < 0 || fstat(fd, &info) != 0) {
      return ErrnoAt(errno, path, "cannot open the script", "name a readable file");
    }
    if (S_ISDIR(info.st_mode)) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": is a directory: name a script, or use --wrap CMD"));
    }
  }
  ASSIGN_OR_RETURN(script.text, ReadAll(fd, script.name));
  RETURN_IF_ERROR(CheckScript(script));
  return script;
}

absl::StatusOr<Script> WrapCommand(const std::string& command) {
  if (command.empty()) {
    return absl::InvalidArgumentError("--wrap: the command is empty: give one");
  }
  Script script{
      .name = "wrap",
      .text = absl::StrCat("#!/bin/sh\n# Made by muster submit --wrap.\n", command, "\n")};
  const absl::Status status = CheckScript(script);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--", std::string(status.message())));
  }
  return script;
}

absl::Status CheckArguments(const std::vector<std::string>& arguments) {
  std::size_t bytes = 0;
  for (const std::string& argument : arguments) {
    bytes += argument.size() + 1;
    if (!IsUtf8(argument)) {
      return absl::InvalidArgumentError(
          absl::StrCat("argument ", Quote(argument), " is not UTF-8: write it as UTF-8"));
    }
  }
  if (bytes > kArgumentsBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the arguments have ", bytes, " bytes: use at most ", kArgumentsBytesMax));
  }
  return absl::OkStatus();
}

absl::Status CompleteRequest(const Context& context, JobRequest* request) {
  Program& program = request->program;
  if (request->spec.name.empty()) {
    const std::string name = std::filesystem::path(context.fallback).filename().string();
    request->spec.name = !name.empty() && CheckText(name, kNameBytesMax).ok() ? name : "job";
  }
  if (program.work_dir.empty() || program.work_dir.front() != '/') {
    ASSIGN_OR_RETURN(const std::string current, CurrentDirectory());
    program.work_dir =
        program.work_dir.empty()
            ? current
            : (std::filesystem::path(current) / program.work_dir).lexically_normal().string();
  }
  if (!IsUtf8(program.work_dir)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(program.work_dir), ": the working directory is not UTF-8: use --chdir"));
  }
  for (std::string& source : request->spec.node_data) {
    source = WithAbsoluteSource(source, program.work_dir);
  }
  RETURN_IF_ERROR(FillContainer(context, request));
  if (context.local) {
    RETURN_IF_ERROR(CheckPaths(request->spec, program));
  }
  RETURN_IF_ERROR(CheckProgress(request->spec, program));
  RETURN_IF_ERROR(CheckObject(*request));
  RETURN_IF_ERROR(AddExportFile(request));
  AddCheckpointVariables(request);
  RETURN_IF_ERROR(AddSubmission(context.new_job, request));
  ASSIGN_OR_RETURN(program.environment,
                   SelectEnvironment(context.environment, request->exports, context.new_job));
  if (request->login_environment) {
    ASSIGN_OR_RETURN(const Login login, OwnLogin(context.environment));
    ASSIGN_OR_RETURN(const std::vector<std::string> variables, LoginVariables(login));
    AddMissing(variables, &program.environment);
  }
  program.umask = CurrentUmask();
  if (context.new_job) {
    request->spec.record = RunRecord(program, context.environment.entries());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> MakeToken() {
  std::string bytes(16, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "cannot get random bytes");
    }
    filled += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return absl::BytesToHexString(bytes);
}

}  // namespace muster::cli
