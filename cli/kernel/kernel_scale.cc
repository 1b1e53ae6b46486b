#include "cli/kernel/kernel_scale.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/kernel/kernel_process.h"
#include "cli/page/table.h"
#include "cli/parse/number.h"
#include "cli/picture/scaling_plot.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kRanksMost = 4096;

// How a kernel grows. All of its work is n^power, and (work_of_ranks) times as many as the ranks to
// that power where n is what each rank has. `operation`: the one that counts; null: all together.
struct Growth {
  const char* kernel;
  bool ranks;
  int power;
  int work_of_ranks;
  const char* operation;
  long long n;  // where none is given
};

constexpr std::array<Growth, 11> kGrowths = {{{"stream", false, 1, 0, nullptr, 16LL << 20},
                                              {"vector-add", false, 1, 0, nullptr, 16LL << 20},
                                              {"saxpy", false, 1, 0, nullptr, 16LL << 20},
                                              {"reduction", false, 1, 0, nullptr, 16LL << 20},
                                              {"gemm", false, 3, 0, nullptr, 2048},
                                              {"norm-gelu", false, 1, 0, nullptr, 16384},
                                              {"heat2d", true, 2, 0, nullptr, 1024},
                                              {"halo", true, 2, 1, "exchange-behind-inside", 1024},
                                              {"allreduce", true, 1, 1, "library", 1LL << 20},
                                              {"allgather", true, 1, 1, "library", 1LL << 18},
                                              {"alltoall", true, 1, 2, "library", 1LL << 18}}};

const Growth* FindGrowth(const BundledKernel& kernel) {
  const auto* found = std::find_if(kGrowths.begin(), kGrowths.end(), [&](const Growth& growth) {
    return std::string(growth.kernel) == kernel.name;
  });
  return found == kGrowths.end() ? nullptr : found;
}

absl::StatusOr<Growth> GrowthOf(const BundledKernel& kernel) {
  if (const Growth* growth = FindGrowth(kernel)) {
    return *growth;
  }
  std::string names;
  for (const Growth& growth : kGrowths) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", growth.kernel);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(kernel.name, ": has no work to share among ranks: scale one of ", names));
}

// The value of --n among a kernel's arguments, taken out of them.
absl::StatusOr<std::optional<long long>> TakeSize(std::vector<std::string>* arguments) {
  for (std::size_t i = 0; i < arguments->size(); ++i) {
    const std::string& word = (*arguments)[i];
    const bool joined = word.rfind("--n=", 0) == 0;
    if (!joined && word != "--n") {
      continue;
    }
    if (!joined && i + 1 == arguments->size()) {
      return absl::InvalidArgumentError("--n: needs a value");
    }
    std::string text = joined ? word.substr(4) : (*arguments)[i + 1];
    constexpr std::string_view kSuffixes = "KMGT";
    const std::size_t suffix = text.empty() ? std::string::npos : kSuffixes.find(text.back());
    long long factor = 1;
    if (suffix != std::string::npos) {
      factor = 1LL << (10 * (suffix + 1));
      text.pop_back();
    }
    ASSIGN_OR_RETURN(const std::uint64_t n, ParseDigits(text, 1ULL << 50U));
    const auto first = arguments->begin() + static_cast<std::ptrdiff_t>(i);
    arguments->erase(first, first + (joined ? 1 : 2));
    return std::optional(static_cast<long long>(n) * factor);
  }
  return std::optional<long long>();
}

// document[series][key], 0 when there is no such number.
double NumberIn(const Json& document, const char* series, const char* key) {
  const auto found = document.is_object() ? document.find(series) : document.end();
  if (found == document.end() || !found->is_object()) {
    return 0;
  }
  const auto number = found->find(key);
  return number != found->end() && number->is_number() ? number->get<double>() : 0;
}

// Whether the kernel does nothing but communicate: then what it moves is its work.
bool IsCollective(const Growth& growth) {
  return growth.operation != nullptr && std::string(growth.operation) == "library";
}

// Adds the operations that count: their medians, and what a collective moves.
void AddOperations(const Growth& growth, const Json& operations, ScalingPoint* point) {
  for (const Json& operation : operations) {
    if (growth.operation != nullptr && operation.value("name", Json()) != growth.operation) {
      continue;
    }
    point->seconds += NumberIn(operation, "seconds", "median");
    point->best += NumberIn(operation, "seconds", "best");
    if (IsCollective(growth)) {
      point->bytes = operation.value("bytes", 0.0);
      point->communication_share = 1;
    }
  }
}

// Seconds of one repeat: the medians of the operations that count, or the kernel's own.
absl::StatusOr<ScalingPoint> PointOf(const Growth& growth, int ranks, const Json& document) {
  ScalingPoint point;
  point.ranks = ranks;
  if (const auto operations = document.find("operations"); operations != document.end()) {
    AddOperations(growth, *operations, &point);
  } else {
    point.seconds = NumberIn(document, "seconds", "median");
    point.best = NumberIn(document, "seconds", "best");
  }
  if (point.seconds <= 0) {
    return absl::InternalError("the kernel printed no time: choose a larger --n");
  }
  if (document.contains("wait_seconds")) {
    point.communication_share = NumberIn(document, "wait_seconds", "median") / point.seconds;
  } else if (const auto share = document.find("communication_share");
             share != document.end() && share->is_number()) {
    point.communication_share = share->get<double>();
  }
  return point;
}

// The launcher's program, found in PATH.
absl::StatusOr<std::string> InPath(const std::string& program, const Environment& environment) {
  if (program.find('/') != std::string::npos) {
    return program;
  }
  const std::vector<std::string> directories = absl::StrSplit(environment.Get("PATH"), ':');
  for (const std::string& directory : directories) {
    const std::string candidate = absl::StrCat(directory, "/", program);
    if (!directory.empty() && access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return absl::NotFoundError(
      absl::StrCat("--launcher: ", Quote(program), " is not in PATH: name another"));
}

absl::StatusOr<std::vector<std::string>> LauncherWords(const std::string& launcher, int ranks,
                                                       const Environment& environment) {
  std::vector<std::string> words = absl::StrSplit(launcher, ' ', absl::SkipEmpty());
  if (words.empty()) {
    return absl::InvalidArgumentError("--launcher: is empty: name a program and its options");
  }
  ASSIGN_OR_RETURN(words.front(), InPath(words.front(), environment));
  words.push_back(absl::StrCat(ranks));
  return words;
}

absl::StatusOr<ScalingPoint> MeasurePoint(const ScaleRequest& request, const Growth& growth,
                                          const std::vector<std::string>& arguments, int ranks,
                                          long long n, const Environment& environment) {
  ASSIGN_OR_RETURN(const std::string program, KernelProgram(request.kernel, environment));
  std::vector<std::string> words;
  Variables variables;
  if (growth.ranks) {
    ASSIGN_OR_RETURN(words, LauncherWords(request.launcher, ranks, environment));
    if (!environment.Has("OMP_NUM_THREADS")) {
      variables.emplace_back("OMP_NUM_THREADS=1");
    }
  } else {
    variables.push_back(absl::StrCat("OMP_NUM_THREADS=", ranks));
  }
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--n", absl::StrCat(n), "--json"});
  ASSIGN_OR_RETURN(const Json document, MeasureKernel(words, environment, variables));
  return PointOf(growth, ranks, document);
}

Json ScaleDocument(const ScalingResult& result) {
  Json points = Json::array();
  for (std::size_t at = 0; at < result.points.size(); ++at) {
    const ScalingPoint& point = result.points[at];
    points.push_back(
        {{"ranks", point.ranks},
         {"seconds", point.seconds},
         {"best_seconds", point.best > 0 ? Json(point.best) : Json(nullptr)},
         {"bytes", point.bytes > 0 ? Json(point.bytes) : Json(nullptr)},
         {"speedup", result.Speedup(at)},
         {"efficiency", result.Efficiency(at)},
         {"communication_share",
          point.communication_share ? Json(*point.communication_share) : Json(nullptr)}});
  }
  return {{"kernel", result.kernel},
          {"scaling", result.scaling == Scaling::kStrong ? "strong" : "weak"},
          {"points", points},
          {"pays_up_to", result.PaysUpTo()}};
}

// One way of placing the threads.
struct Binding {
  const char* name;
  const char* meaning;
  Variables variables;
};

std::vector<Binding> Bindings() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  int first = 0;
  int count = 1;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0 && CPU_COUNT(&mask) > 0) {
    count = CPU_COUNT(&mask);
    while (!CPU_ISSET(static_cast<std::size_t>(first), &mask)) {
      ++first;
    }
  }
  const std::string threads = absl::StrCat("OMP_NUM_THREADS=", count);
  return {{"bound",
           "each thread on a core of its own",
           {threads, "OMP_PROC_BIND=close", "OMP_PLACES=cores"}},
          {"unbound", "where the system puts them", {threads, "OMP_PROC_BIND=false", "OMP_PLACES"}},
          {"wrong",
           "all threads on one core",
           {threads, "OMP_PROC_BIND=close", absl::StrCat("OMP_PLACES={", first, "}")}}};
}

}  // namespace

absl::StatusOr<std::vector<int>> ParseRanks(const std::string& text) {
  std::vector<int> ranks;
  const std::vector<std::string> words = absl::StrSplit(text, ',');
  for (const std::string& word : words) {
    const absl::StatusOr<std::uint32_t> count = ParseCount(word, kRanksMost);
    if (!count.ok() || (!ranks.empty() && static_cast<int>(*count) <= ranks.back())) {
      return absl::InvalidArgumentError(absl::StrCat("--ranks: ", Quote(text),
                                                     " is no ascending list of 1 to ", kRanksMost,
                                                     ", such as 1,2,4"));
    }
    ranks.push_back(static_cast<int>(*count));
  }
  return ranks;
}

std::string DefaultRanks(const BundledKernel& kernel) {
  return kernel.needs == KernelNeeds::kRanks ? "2,4" : "1,2,4";
}

long long SizeFor(long long n, int ranks, int power, int work_of_ranks, bool weak) {
  const double exponent = static_cast<double>((weak ? 1 : 0) - work_of_ranks) / power;
  const double size = static_cast<double>(n) * std::pow(static_cast<double>(ranks), exponent);
  return std::max(1LL, std::llround(size));
}

absl::StatusOr<int> ScaleKernel(const ScaleRequest& request, const Environment& environment) {
  ASSIGN_OR_RETURN(const Growth growth, GrowthOf(request.kernel));
  std::vector<std::string> arguments = request.arguments;
  ASSIGN_OR_RETURN(const std::optional<long long> given, TakeSize(&arguments));
  if (request.kernel.needs == KernelNeeds::kRanks && request.ranks.front() < 2) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--ranks: ", request.kernel.name, " needs at least 2 ranks: begin with 2, as in 2,4"));
  }
  ScalingResult result;
  result.kernel = request.kernel.name;
  result.unit = growth.ranks ? "ranks" : "threads";
  result.scaling = request.weak ? Scaling::kWeak : Scaling::kStrong;
  for (const int ranks : request.ranks) {
    const long long n = given.value_or(growth.n);
    const long long size = SizeFor(n, ranks, growth.power, growth.work_of_ranks, request.weak);
    ASSIGN_OR_RETURN(const ScalingPoint point,
                     MeasurePoint(request, growth, arguments, ranks, size, environment));
    result.points.push_back(point);
  }
  if (!request.svg.empty()) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ResultFile> file, ResultFile::Create(request.svg));
    RETURN_IF_ERROR(file->Append(ScalingPicture(result)));
    RETURN_IF_ERROR(file->Finish());
  }
  RETURN_IF_ERROR(WriteOut(request.json
                               ? PrintJson(ScaleDocument(result))
                               : ScalingPage(result, StyleFor(environment, STDOUT_FILENO))));
  return 0;
}

absl::StatusOr<int> CompareBinding(const BundledKernel& kernel,
                                   const std::vector<std::string>& arguments, bool json,
                                   const Environment& environment) {
  if (std::string(kernel.name) != "stream") {
    return absl::InvalidArgumentError(
        "--compare-binding: only stream measures what a binding is worth");
  }
  ASSIGN_OR_RETURN(const std::string program, KernelProgram(kernel, environment));
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.emplace_back("--json");
  Table table({{.title = "BINDING"},
               {.title = "GB/S", .right = true},
               {.title = "BEST", .right = true},
               {.title = "RATIO", .right = true},
               {.title = "MOVED", .right = true},
               {.title = "THREADS"}});
  Json rows = Json::array();
  double bound = 0;
  for (const Binding& binding : Bindings()) {
    ASSIGN_OR_RETURN(const Json document, MeasureKernel(words, environment, binding.variables));
    const double median = NumberIn(document, "gb_per_s", "median");
    const double best = NumberIn(document, "gb_per_s", "best");
    if (median <= 0) {
      return absl::InternalError("the kernel printed no bandwidth: choose a larger --n");
    }
    bound = rows.empty() ? median : bound;
    const auto migrations = document.value("migrations", Json(nullptr));
    table.Add({{binding.name},
               {absl::StrFormat("%.2f", median)},
               {absl::StrFormat("%.2f", best)},
               {absl::StrFormat("%.2f", median / bound)},
               {migrations.dump()},
               {binding.meaning}});
    rows.push_back({{"binding", binding.name},
                    {"gb_per_s", {{"best", best}, {"median", median}}},
                    {"ratio", median / bound},
                    {"migrations", migrations},
                    {"cpus", document.value("cpus", Json(nullptr))}});
  }
  RETURN_IF_ERROR(WriteOut(json ? PrintJson({{"kernel", kernel.name}, {"bindings", rows}})
                                : table.Print(StyleFor(environment, STDOUT_FILENO))));
  return 0;
}

}  // namespace muster::cli
