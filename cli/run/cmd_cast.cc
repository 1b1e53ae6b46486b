#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/request/request.h"
#include "cli/request/step_request.h"
#include "cli/run/received_file.h"
#include "cli/run/run_session.h"
#include "cli/stage/bulk_traffic.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr const char* kTree = "tree";  // as the supervisors know it: they hand the input on
constexpr std::uint64_t kNodesMax = 1'000'000;

struct Source {
  UniqueFd fd;
  FileDigest digest;
  std::uint32_t mode = 0;
};

absl::StatusOr<Source> OpenSource(const std::string& path) {
  Source source;
  struct stat found = {};
  source.fd.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.fd.valid() || fstat(source.fd.get(), &found) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
  }
  if (!S_ISREG(found.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": is no ordinary file"));
  }
  source.mode = found.st_mode & 0777;
  ASSIGN_OR_RETURN(source.digest, DigestOf(source.fd.get()));
  if (lseek(source.fd.get(), 0, SEEK_SET) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
  }
  return source;
}

// What each node runs: this very program, which takes the file from its input.
absl::StatusOr<Program> Receiver(const Invocation& invocation, const Source& source,
                                 const std::string& destination) {
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  if (unknown) {
    return absl::InternalError("/proc/self/exe: cannot be read");
  }
  Program program;
  program.argv = {self, "cast", "--receive",
                  absl::StrCat(source.digest.bytes, ",", source.digest.checksum, ",", source.mode,
                               ",", invocation.Has("force") ? 1 : 0),
                  destination};
  program.work_dir = "/";
  program.stdin_path = kTree;
  program.mpi = MpiFlavour::kNone;
  return program;
}

absl::StatusOr<int> Send(const Invocation& invocation, const UniqueFd& signals) {
  ASSIGN_OR_RETURN(const JobId job, OwnJob(invocation));
  const absl::StatusOr<std::uint64_t> nodes =
      ParseDigits(invocation.environment.Get("MUSTER_JOB_NUM_NODES"), kNodesMax);
  if (!nodes.ok()) {
    return absl::InvalidArgumentError("MUSTER_JOB_NUM_NODES: is not a number");
  }
  std::error_code unknown;
  const std::string destination =
      std::filesystem::absolute(invocation.arguments[1], unknown).string();
  ASSIGN_OR_RETURN(const Source source, OpenSource(invocation.arguments[0]));
  ASSIGN_OR_RETURN(Program program, Receiver(invocation, source, destination));
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  const BulkTraffic traffic = BulkTrafficOf(kStagingCopies, invocation.environment);
  const NicAddress nic = AddressOfNics(traffic.nics).value_or(NicAddress());
  ASSIGN_OR_RETURN(const std::unique_ptr<StepListener> listener,
                   StepListener::ListenFor(
                       *loop, IsLocal(address), invocation.environment,
                       {.device = nic.device, .address = nic.address, .dscp = traffic.dscp}));
  listener->SendInputToFirst();
  program.io.address = listener->address();
  ASSIGN_OR_RETURN(program.io.token, MakeToken());
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  StepSpec spec;
  spec.nodes = static_cast<std::uint32_t>(*nodes);
  spec.tasks = spec.nodes;
  spec.cpus_per_task = 1;
  spec.overlap = true;
  ASSIGN_OR_RETURN(const StartedStep started,
                   connection->Call(muster::StartStep{token, job, spec, program}));
  RunPlan plan;
  plan.job = job;
  plan.own_job = false;
  plan.nodes = static_cast<std::uint32_t>(started.placement.nodes.size());
  plan.token = program.io.token;
  plan.names = {.job = job, .step = started.step, .job_name = "cast"};
  plan.input = source.fd.get();
  plan.input_rate = traffic.rate;
  RunSession session(*loop, *connection, *listener, signals, std::move(plan));
  // Where one node could not, the others were ended: theirs are no codes of their own.
  ASSIGN_OR_RETURN(const int code, session.Run());
  return code == 0 ? 0 : 1;
}

// On a node: "BYTES,CHECKSUM,MODE,REPLACE" says what comes.
absl::StatusOr<int> TakeFile(const Invocation& invocation) {
  const std::vector<std::string> words = absl::StrSplit(invocation.Value("receive"), ',');
  ReceivedFile file;
  std::uint32_t replace = 0;
  if (words.size() != 4 || !absl::SimpleAtoi(words[0], &file.digest.bytes) ||
      !absl::SimpleAtoi(words[1], &file.digest.checksum) ||
      !absl::SimpleAtoi(words[2], &file.mode) || !absl::SimpleAtoi(words[3], &replace)) {
    return absl::InvalidArgumentError("--receive: is for muster cast itself; leave it out");
  }
  file.path = invocation.arguments.front();
  file.replace = replace != 0;
  RETURN_IF_ERROR(Receive(STDIN_FILENO, file));
  return 0;
}

absl::StatusOr<int> Cast(const Invocation& invocation) {
  const bool receives = invocation.Has("receive");
  if (invocation.arguments.size() != (receives ? 1 : 2)) {
    return absl::InvalidArgumentError("give the FILE and where it is to be on the nodes, DEST");
  }
  if (receives) {
    return TakeFile(invocation);
  }
  // Before gRPC starts its threads, so that all of them leave the signals to the loop.
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM, SIGHUP}));
  IgnoreBrokenPipes();
  if (!invocation.environment.Has("MUSTER_JOB_ID")) {
    return absl::FailedPreconditionError(
        "not inside a job: start it from a job's script, or from the shell of muster alloc");
  }
  return Send(invocation, signals);
}

}  // namespace

Verb CastVerb() {
  Verb verb;
  verb.name = "cast";
  verb.purpose = "Copy a file to every node of the job that this runs in";
  verb.synopsis = "FILE DEST";
  verb.examples = {"muster cast ./solver /tmp/solver",
                   "muster cast --force data.bin /tmp/data.bin"};
  verb.remarks =
      "From node to node in a tree, checked, and put there whole: as you, through no symbolic\n"
      "link. A file that is there already is left alone.";
  verb.options = {{.name = "force",
                   .letter = 'f',
                   .metavar = "",
                   .text = "Replace the files that are there already"},
                  {.name = "receive", .letter = 0, .metavar = "WHAT", .text = ""}};
  verb.arguments_min = 1;
  verb.arguments_max = 2;
  verb.run = Cast;
  return verb;
}

}  // namespace muster::cli
