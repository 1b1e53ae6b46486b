#include "cli/simulate/failure_options.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "checkpoint/advice/interval.h"
#include "cli/parse/number.h"
#include "cli/parse/request/resources.h"
#include "cli/simulate/named_words.h"
#include "cli/simulate/trace_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/simulator/workload/failure_log.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kFailureSeedMax = 1'000'000'000'000;
constexpr double kShapeMin = 0.1;
constexpr double kShapeMax = 20;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 50U;
constexpr std::uint32_t kWritersMax = 1'000'000;

// Bytes; 0 when they are not there.
absl::StatusOr<std::int64_t> BytesOf(const Words& words, const std::string& name) {
  const auto found = words.find(name);
  if (found == words.end()) {
    return 0;
  }
  const absl::StatusOr<Bytes> bytes = ParseMemory(found->second);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", std::string(bytes.status().message())));
  }
  if (bytes->zero() || bytes->value() > kBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": ", Quote(found->second), " is not a size from 1K to 1024T"));
  }
  return static_cast<std::int64_t>(bytes->value());
}

// The optimum for exponential failures, Lambert's form of Daly's equation:
// checkpoint/advice/interval.h.
std::int64_t BestInterval(const sim::JobCheckpoints& checkpoints, double mtbf_s) {
  const checkpoint::Recommendation best = checkpoint::Recommend(
      {static_cast<double>(checkpoints.cost), mtbf_s, static_cast<double>(checkpoints.restart)},
      {.min_s = 1, .max_s = 1e9});
  return best.advice == checkpoint::Advice::kAtEndOnly
             ? 0
             : std::max<std::int64_t>(1, std::llround(best.interval_s));
}

absl::Status SetCheckpoints(const std::string& text, sim::ClusterRun* run) {
  run->checkpoints = sim::JobCheckpoints();
  run->interval_for = nullptr;
  if (text == "none") {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Words words, ReadWords(text, {"interval", "cost", "size", "restart"}));
  const auto interval = words.find("interval");
  if (interval == words.end()) {
    return absl::InvalidArgumentError("say how often: interval=auto or interval=1h; or none alone");
  }
  const bool best = interval->second == "auto";
  if (best) {
    words.erase(interval);
    run->interval_for = BestInterval;
  }
  ASSIGN_OR_RETURN(run->checkpoints.interval, SecondsOf(words, "interval", 0));
  ASSIGN_OR_RETURN(run->checkpoints.cost, SecondsOf(words, "cost", 0));
  ASSIGN_OR_RETURN(run->checkpoints.restart, SecondsOf(words, "restart", 0));
  ASSIGN_OR_RETURN(run->checkpoints.size, BytesOf(words, "size"));
  if (words.count("cost") != 0 && words.count("size") != 0) {
    return absl::InvalidArgumentError(
        "cost and size: the size and the file system say what it costs: leave cost out");
  }
  const bool costs = run->checkpoints.cost > 0 || run->checkpoints.size > 0;
  if (best ? !costs : run->checkpoints.interval == 0) {
    return absl::InvalidArgumentError(
        best ? "interval=auto needs the cost of a checkpoint: add cost=60s, or size=64G"
             : "interval: at least a second; or none alone");
  }
  return absl::OkStatus();
}

// Where checkpoints of a size are written.
absl::Status SetFileSystem(const std::string& text, sim::ClusterRun* run) {
  ASSIGN_OR_RETURN(const Words words, ReadWords(text, {"bandwidth", "per-node", "writers"}));
  run->file_system = sim::FileSystem();
  ASSIGN_OR_RETURN(run->file_system.bandwidth, BytesOf(words, "bandwidth"));
  ASSIGN_OR_RETURN(run->file_system.per_node, BytesOf(words, "per-node"));
  if (run->file_system.bandwidth == 0) {
    return absl::InvalidArgumentError("say how much it takes in a second: bandwidth=100G");
  }
  const auto writers = words.find("writers");
  if (writers != words.end()) {
    const absl::StatusOr<std::uint32_t> count = ParseCount(writers->second, kWritersMax);
    if (!count.ok() || *count == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "writers: ", Quote(writers->second), " is not a whole number from 1 to ", kWritersMax));
    }
    run->file_system.writers = *count;
  }
  return absl::OkStatus();
}

absl::Status SetLog(const std::string& path, sim::ClusterRun* run) {
  ASSIGN_OR_RETURN(run->failure_log, sim::ReadFailureLog(path));
  return absl::OkStatus();
}

// One law for every class, or a log.
absl::Status SetFailures(const std::string& text, sim::ClusterRun* run) {
  const std::string log = "log=";
  if (text.rfind(log, 0) == 0) {
    return SetLog(text.substr(log.size()), run);
  }
  ASSIGN_OR_RETURN(const sim::FailureLaw law, ParseFailureLaw(text));
  run->failure_log.reset();
  for (sim::NodeClass& nodes : run->nodes) {
    nodes.failures = law;
  }
  return absl::OkStatus();
}

// `set` of the option's value; an error gets the option in front.
template <class Set>
absl::Status SetBy(const Invocation& invocation, const char* name, Set set, sim::ClusterRun* run) {
  if (!invocation.Has(name)) {
    return absl::OkStatus();
  }
  const absl::Status status = set(invocation.Value(name), run);
  return status.ok() ? status
                     : absl::Status(status.code(),
                                    absl::StrCat("--", name, ": ", std::string(status.message())));
}

absl::Status SetSeed(const std::string& text, sim::ClusterRun* run) {
  const absl::StatusOr<std::uint64_t> seed = ParseDigits(text, kFailureSeedMax);
  if (!seed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a whole number from 0 to ", kFailureSeedMax));
  }
  run->seed = *seed;
  return absl::OkStatus();
}

}  // namespace

std::vector<Option> FailureOptionTable() {
  return {
      MakeOption("failures", "LAW",
                 "Nodes of the cluster fail: mtbf=30d,shape=0.7,repair=4h, or log=FILE"),
      MakeOption("job-checkpoints", "HOW",
                 "Jobs write them: interval=1h or auto, cost=60s, restart=2m; default: none"),
      MakeOption("file-system", "WHAT",
                 "Checkpoints with size=64G share it: bandwidth=100G,per-node=5G,writers=8"),
      MakeOption("seed", "N", "The seed of the failures, a whole number (default: 1)"),
  };
}

absl::StatusOr<sim::FailureLaw> ParseFailureLaw(const std::string& text) {
  ASSIGN_OR_RETURN(const Words words, ReadWords(text, {"mtbf", "shape", "repair", "repair-mean"}));
  sim::FailureLaw law;
  ASSIGN_OR_RETURN(const std::int64_t mtbf, SecondsOf(words, "mtbf", 0));
  if (mtbf <= 0) {
    return absl::InvalidArgumentError("say how often one node fails: mtbf=30d");
  }
  const auto shape = words.find("shape");
  if (shape != words.end() && (!absl::SimpleAtod(shape->second, &law.shape) ||
                               !(law.shape >= kShapeMin && law.shape <= kShapeMax))) {
    return absl::InvalidArgumentError(absl::StrCat("shape: ", Quote(shape->second),
                                                   " is not a number from ", kShapeMin, " to ",
                                                   kShapeMax, ", as Weibull's is"));
  }
  law.repair_differs = words.count("repair-mean") != 0;
  if (law.repair_differs && words.count("repair") != 0) {
    return absl::InvalidArgumentError("repair and repair-mean: say one of them");
  }
  ASSIGN_OR_RETURN(const std::int64_t repair,
                   SecondsOf(words, law.repair_differs ? "repair-mean" : "repair", 0));
  law.mtbf_s = static_cast<double>(mtbf);
  law.repair_s = static_cast<double>(repair);
  return law;
}

absl::Status ReadFailureKeys(ConfigFile& file, const std::string& table, sim::NodeClass* nodes) {
  std::string text;
  RETURN_IF_ERROR(file.ReadString(table + ".failures", &text));
  if (text.empty()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<sim::FailureLaw> law = ParseFailureLaw(text);
  if (!law.ok()) {
    return file.ErrorAt(table + ".failures", std::string(law.status().message()));
  }
  nodes->failures = *law;
  return absl::OkStatus();
}

absl::Status ReadFailureKeys(ConfigFile& file, const std::string& directory, sim::ClusterRun* run) {
  std::string log;
  std::string checkpoints;
  std::string file_system;
  auto seed = static_cast<std::int64_t>(run->seed);
  RETURN_IF_ERROR(file.ReadString("failure_log", &log));
  RETURN_IF_ERROR(file.ReadString("job_checkpoints", &checkpoints));
  RETURN_IF_ERROR(file.ReadString("file_system", &file_system));
  RETURN_IF_ERROR(
      file.ReadInteger("failure_seed", {0, static_cast<std::int64_t>(kFailureSeedMax)}, &seed));
  run->seed = static_cast<std::uint64_t>(seed);
  if (!log.empty()) {
    const absl::Status status = SetLog((std::filesystem::path(directory) / log).string(), run);
    if (!status.ok()) {
      return file.ErrorAt("failure_log", std::string(status.message()));
    }
  }
  const absl::Status status =
      checkpoints.empty() ? absl::OkStatus() : SetCheckpoints(checkpoints, run);
  if (!status.ok()) {
    return file.ErrorAt("job_checkpoints", std::string(status.message()));
  }
  const absl::Status shared =
      file_system.empty() ? absl::OkStatus() : SetFileSystem(file_system, run);
  return shared.ok() ? shared : file.ErrorAt("file_system", std::string(shared.message()));
}

absl::Status CheckFailureSettings(const sim::ClusterRun& run) {
  const bool law = !run.failure_log.has_value() &&
                   std::any_of(run.nodes.begin(), run.nodes.end(), [](const sim::NodeClass& nodes) {
                     return nodes.failures.mtbf_s > 0;
                   });
  if (run.interval_for != nullptr && !law) {
    return absl::InvalidArgumentError(
        "--job-checkpoints: interval=auto follows from how often nodes fail: add --failures "
        "mtbf=30d, or say interval=1h");
  }
  if (run.checkpoints.size > 0 && run.file_system.bandwidth == 0) {
    return absl::InvalidArgumentError(
        "--job-checkpoints: size needs the file system that takes it: add --file-system "
        "bandwidth=100G, or say cost=60s");
  }
  if (run.checkpoints.size == 0 && run.file_system.bandwidth > 0) {
    return absl::InvalidArgumentError(
        "--file-system: no job writes to it: give the checkpoints a size, --job-checkpoints "
        "interval=1h,size=64G");
  }
  return absl::OkStatus();
}

absl::Status ReadFailureOptions(const Invocation& invocation, sim::ClusterRun* run) {
  RETURN_IF_ERROR(SetBy(invocation, "failures", SetFailures, run));
  RETURN_IF_ERROR(SetBy(invocation, "job-checkpoints", SetCheckpoints, run));
  RETURN_IF_ERROR(SetBy(invocation, "file-system", SetFileSystem, run));
  RETURN_IF_ERROR(SetBy(invocation, "seed", SetSeed, run));
  return CheckFailureSettings(*run);
}

absl::Status RefuseFailureOptions(const Invocation& invocation) {
  for (const char* option : {"failures", "job-checkpoints", "file-system", "seed"}) {
    if (invocation.Has(option)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option,
                       ": only the nodes of a cluster fail: add --nodes N --cpus-per-node C, or "
                       "--cluster FILE"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster::cli
