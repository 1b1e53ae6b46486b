#include "agent/kernels/mpi/world.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/harness/timeline.h"
#include "agent/kernels/mpi/rank_timeline.h"
#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLinkTag = 7;

// What every rank knows of all checks.
struct Verdict {
  bool ok = false;
  std::string failure;  // of the first rank that failed
};

Verdict JoinChecks(const World& world, const Check& check) {
  int first_bad = check.ok() ? world.size : world.rank;
  MPI_Allreduce(MPI_IN_PLACE, &first_bad, 1, MPI_INT, MPI_MIN, world.comm);
  if (first_bad == world.size) {
    return {true, ""};
  }
  std::array<char, 256> text{};
  if (world.rank == first_bad) {
    const std::string failure = check.failure().empty() ? "nothing was compared" : check.failure();
    std::snprintf(text.data(), text.size(), "rank %d: %s", world.rank, failure.c_str());
  }
  MPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, first_bad, world.comm);
  return {false, text.data()};
}

// What a rank exchanges with its neighbours in a ring a second, all at once, one way: the most that
// was seen. No method moves its bytes faster but by luck. Collective.
double MeasureLinks(const World& world) {
  constexpr int kBytes = 4 << 20;
  constexpr int kRepeats = 8;
  std::vector<char> out(kBytes, 1);
  std::vector<char> in(kBytes);
  const int right = (world.rank + 1) % world.size;
  const int left = (world.rank + world.size - 1) % world.size;
  double best = 0;
  for (int i = 0; i < kRepeats; ++i) {
    MPI_Barrier(world.comm);
    const double begin = MonotonicSeconds();
    MPI_Sendrecv(out.data(), kBytes, MPI_CHAR, right, kLinkTag, in.data(), kBytes, MPI_CHAR, left,
                 kLinkTag, world.comm, MPI_STATUS_IGNORE);
    double seconds = MonotonicSeconds() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, world.comm);
    best = std::max(best, kBytes / std::max(seconds, 1e-9));
  }
  return best;
}

// The links' peak; a figure above it raises it, as on one node.
Peaks LinkPeaks(double measured, const std::vector<Measured>& operations) {
  Peaks peaks = {0, measured, true};
  for (const Measured& each : operations) {
    const double best = std::max(Summarise(each.seconds).min, 1e-9);
    peaks.bytes_per_s = std::max(peaks.bytes_per_s, each.bytes / best);
  }
  return peaks;
}

std::vector<Measured> MeasureTogether(const World& world, const std::vector<Operation>& operations,
                                      const BenchOptions& options, PhaseMarker* marker) {
  std::vector<Measured> all;
  all.reserve(operations.size());
  for (const Operation& each : operations) {
    all.push_back({each.name, each.flop, each.bytes, each.steps, each.bytes > 0, {}});
  }
  for (int64_t i = 0; i < options.warmup + options.repeat; ++i) {
    for (size_t at = 0; at < operations.size(); ++at) {
      MPI_Barrier(world.comm);
      double seconds = operations[at].run();
      const PhaseMarker::Span phase = marker->Phase("waiting for the others");
      MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, world.comm);
      if (i >= options.warmup) {
        all[at].seconds.push_back(seconds);
      }
    }
  }
  return all;
}

std::string LibraryText() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

// The hosts of all ranks, each named once, on rank 0.
Json HostsJson(const World& world) {
  std::array<char, 256> own{};
  std::snprintf(own.data(), own.size(), "%s", HostName().c_str());
  std::vector<char> all(own.size() * static_cast<size_t>(world.size));
  MPI_Gather(own.data(), static_cast<int>(own.size()), MPI_CHAR, all.data(),
             static_cast<int>(own.size()), MPI_CHAR, 0, world.comm);
  std::set<std::string> hosts;
  for (size_t rank = 0; world.rank == 0 && rank < static_cast<size_t>(world.size); ++rank) {
    hosts.insert(all.data() + rank * own.size());
  }
  return hosts;
}

struct Report {
  std::vector<Measured> measured;
  Peaks peaks;  // of the links
  Check check;
  Verdict verdict;
  Json facts;
};

void PrintJson(const MpiKernel& kernel, const World& world, const BenchOptions& options,
               const Report& report) {
  Json operations = Json::array();
  for (const Measured& each : report.measured) {
    operations.push_back(MeasuredJson(each, report.peaks));
  }
  Json json = BenchJson(kernel.name, options);
  json["ranks"] = world.size;
  json["operations"] = operations;
  json["peaks"] = {{"link_gb_per_s", report.peaks.bytes_per_s * 1e-9}};
  json["node"] = NodeJson();
  json["mpi"] = LibraryText();
  json.update(report.facts);
  json.update(CheckJson(report.check, kernel.tolerance));
  json["verified"] = report.verdict.ok;
  json["failure"] = report.verdict.ok ? Json(nullptr) : Json(report.verdict.failure);
  std::cout << json.dump() << std::endl;
}

void PrintText(const MpiKernel& kernel, const World& world, const BenchOptions& options,
               const Report& report) {
  std::cout << kernel.name << ": " << world.size << " ranks, n " << options.n << ", "
            << options.repeat << " repeats, seed " << options.seed << "\n";
  for (const Measured& each : report.measured) {
    std::cout << MeasuredText(each, report.peaks);
  }
  if (report.facts.contains("overlap_share")) {
    std::cout << "overlap: " << report.facts["overlap_share"] << " of what could be hidden\n";
  }
  std::cout << "check: " << (report.verdict.ok ? "passed" : "FAILED") << " (" << kernel.tolerance
            << ")" << (report.verdict.ok ? "" : ": " + report.verdict.failure) << std::endl;
}

// What speaks against running; the same on every rank. Collective.
std::string ProblemOf(const MpiKernel& kernel, const std::string& program, const World& world,
                      int64_t n) {
  if (world.size < kernel.least_ranks) {
    std::ostringstream problem;
    problem << world.size << " rank: it needs " << kernel.least_ranks
            << ": start it with a launcher, such as muster run -n " << kernel.least_ranks << " "
            << program;
    return problem.str();
  }
  const double needed = kernel.bytes_needed ? kernel.bytes_needed(n, world.size) : 0;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(world.comm, MPI_COMM_TYPE_SHARED, world.rank, MPI_INFO_NULL, &node);
  int neighbours = 1;
  MPI_Comm_size(node, &neighbours);
  MPI_Comm_free(&node);
  // The tightest node decides.
  const auto available = static_cast<double>(AvailableBytes());
  double left = available > 0 ? available - needed * neighbours : 0;
  MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_DOUBLE, MPI_MIN, world.comm);
  std::array<double, 2> told = {needed * neighbours, available};
  MPI_Bcast(told.data(), 2, MPI_DOUBLE, 0, world.comm);
  return left < 0 ? TooLarge(n, told[0], told[1]) : "";
}

// The first text of all ranks that is not empty, with that rank's host; empty when all are.
// Collective.
std::string FirstSaid(const World& world, const std::string& text) {
  int first = text.empty() ? world.size : world.rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, world.comm);
  if (first == world.size) {
    return "";
  }
  std::array<char, 512> said{};
  if (world.rank == first) {
    std::snprintf(said.data(), said.size(), "%s: %s", HostName().c_str(), text.c_str());
  }
  MPI_Bcast(said.data(), static_cast<int>(said.size()), MPI_CHAR, first, world.comm);
  return said.data();
}

// The document of a kernel that cannot measure here, or a line.
int TellUnavailable(const MpiKernel& kernel, const World& world, const BenchOptions& options,
                    const std::string& why) {
  if (world.rank == 0 && options.json) {
    Json json = BenchJson(kernel.name, options);
    json["ranks"] = world.size;
    json["unavailable"] = why;
    std::cout << json.dump() << std::endl;
  } else if (world.rank == 0) {
    std::cerr << kernel.name << ": " << why << std::endl;
  }
  return kExitFailed;
}

int RunRanks(const MpiKernel& kernel, const World& world, const BenchOptions& options,
             PhaseMarker* marker) {
  const std::string why =
      kernel.begin ? FirstSaid(world, kernel.begin(world, options)) : std::string();
  if (!why.empty()) {
    return TellUnavailable(kernel, world, options, why);
  }
  Report report;
  const double links = MeasureLinks(world);
  const std::vector<Operation> operations = kernel.prepare(world, options);
  report.measured = MeasureTogether(world, Marked(operations, marker), options, marker);
  report.peaks = LinkPeaks(links, report.measured);
  for (const Operation& each : operations) {
    if (each.check) {
      each.check(&report.check);
    }
  }
  if (options.verify && kernel.verify) {
    kernel.verify(world, static_cast<uint64_t>(options.seed), &report.check);
  }
  report.verdict = JoinChecks(world, report.check);
  report.facts = kernel.facts ? kernel.facts(world, report.measured) : Json::object();
  report.facts["hosts"] = HostsJson(world);
  if (world.rank == 0 && options.json) {
    PrintJson(kernel, world, options, report);
  } else if (world.rank == 0) {
    PrintText(kernel, world, options, report);
  }
  return report.verdict.ok ? kExitOk : kExitFailed;
}

int RefuseTimeline(const World& world, const CommandLine& line, const std::string& path) {
  return world.rank == 0
             ? line.Refuse("--timeline: " + Printable(path) + " cannot be written", std::cerr)
             : kExitUsage;
}

}  // namespace

int RunMpiKernel(const MpiKernel& kernel, int argc, char** argv) {
  BenchOptions options;
  options.n = kernel.n;
  CommandLine line(kernel.name, kernel.purpose, kernel.example);
  AddBenchOptions(&line, &options, kernel.n_meaning, kernel.n_max,
                  "also check other sizes, odd ones among them");
  if (kernel.add_options) {
    kernel.add_options(&line);
  }
  std::string timeline;
  AddTimelineOption(&line, &timeline);
  std::ostringstream out;
  std::ostringstream err;
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  std::optional<int> exit = line.Parse(arguments, out, err);

  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  World world;
  MPI_Comm_rank(world.comm, &world.rank);
  MPI_Comm_size(world.comm, &world.size);
  if (exit.has_value() && world.rank == 0) {
    // Every rank read the same line: one of them answers.
    std::cout << out.str() << std::flush;
    std::cerr << err.str();
  }
  if (!exit.has_value()) {
    std::string problem = ProblemOf(kernel, argc > 0 ? argv[0] : kernel.name, world, options.n);
    RankTimeline phases(world.comm, problem.empty() ? timeline : "");
    problem = problem.empty() ? phases.problem() : problem;
    if (problem.empty()) {
      exit = RunRanks(kernel, world, options, phases.marker());
      exit = phases.Join() ? exit : RefuseTimeline(world, line, timeline);
    } else {
      exit = world.rank == 0 ? line.Refuse(problem, std::cerr) : kExitUsage;
    }
  }
  MPI_Finalize();
  return *exit;
}

}  // namespace muster::kernels
