// heat2d: heat diffusion on a plate by MPI ranks on a Cartesian grid, with halo exchange behind the
// computation.

#include <mpi.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/command_line.h"
#include "agent/kernels/harness/timeline.h"
#include "agent/kernels/heat/heat2d_checkpoint.h"
#include "agent/kernels/heat/heat_report.h"
#include "agent/kernels/heat/jacobi.h"
#include "agent/kernels/heat/stencil.h"
#include "agent/kernels/mpi/rank_timeline.h"
#include "agent/kernels/mpi/ranks.h"
#include "agent/kernels/place/memory.h"
#include "agent/kernels/place/placement.h"

namespace muster::kernels {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 28;

// A refusal that rank 0 prints; empty: none. The same on every rank.
struct Outcome {
  std::string problem;
  HeatReport report;
};

CommandLine MakeCommandLine(HeatOptions* options) {
  CommandLine line("heat2d",
                   "heat diffusion on a plate (5-point Jacobi stencil) by MPI ranks on a Cartesian "
                   "grid.\nHalos travel while the inside is computed; OpenMP threads share a "
                   "rank's tile. The residual has\nthe same bits for any number of ranks and "
                   "threads. Without a launcher it runs as one rank.\n" +
                       CheckpointHelp(),
                   "muster run -n 4 heat2d --nx 4096 --ny 4096 --steps 200 --verify");
  AddBenchOptions(&line, &options->bench, "cells along each side of a square plate", kMaxSide,
                  "compare the whole field with the serial solution, bit for bit");
  line.AddCount("nx", "columns of cells (default --n)", &options->nx, 1, kMaxSide);
  line.AddCount("ny", "rows of cells (default --n)", &options->ny, 1, kMaxSide);
  line.AddCount("steps", "time steps of a repeat", &options->steps, 1, int64_t{1} << 40);
  line.AddReal("alpha", "diffusion number, above 0 and stable up to 0.25", &options->alpha, 1e-12,
               0.25);
  AddTimelineOption(&line, &options->timeline);
  return line;
}

// What is wrong when the ranks of some node need more than it has; empty when nothing is.
// Collective.
std::string CheckMemory(const HeatOptions& options, const Ranks& ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(ranks.comm(), MPI_COMM_TYPE_SHARED, ranks.rank(), MPI_INFO_NULL, &node);
  double own = static_cast<double>(Jacobi::BytesOf(ranks.tile()));
  if (options.checkpoint.on()) {
    own += static_cast<double>(HeatCheckpoint::BytesOf(ranks.tile()));
  }
  if (options.bench.verify && ranks.rank() == 0) {
    // The gathered field, the serial one, and the two planes it steps between.
    own += 4 * sizeof(double) * static_cast<double>(options.nx + 2) *
           static_cast<double>(options.ny + 2);
  }
  double needed = 0;
  MPI_Allreduce(&own, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
  MPI_Comm_free(&node);
  const double available = static_cast<double>(AvailableBytes());
  struct {
    double lack;
    int rank;
  } here = {available > 0 ? needed - available : -1, ranks.rank()}, worst = {0, 0};
  MPI_Allreduce(&here, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, ranks.comm());
  if (worst.lack <= 0) {
    return "";
  }
  std::array<double, 2> bytes = {needed, available};
  MPI_Bcast(bytes.data(), 2, MPI_DOUBLE, worst.rank, ranks.comm());
  std::ostringstream problem;
  problem << "--nx " << options.nx << " --ny " << options.ny << ": the node of rank " << worst.rank
          << " needs " << BytesText(bytes[0]) << " and has " << BytesText(bytes[1])
          << ": choose fewer cells or more nodes";
  return problem.str();
}

nlohmann::ordered_json OwnPlace(const Ranks& ranks) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  int length = 0;
  MPI_Get_processor_name(host.data(), &length);
  const Place place = CurrentPlace();
  return {{"rank", ranks.rank()},
          {"host", std::string(host.data(), static_cast<size_t>(length))},
          {"cpus", CpuListText(AllowedCpus())},
          {"cpu", place.cpu},
          {"numa_node", place.node},
          {"threads", omp_get_max_threads()},
          {"row", ranks.row()},
          {"col", ranks.col()},
          {"tile_rows", ranks.tile().rows.size()},
          {"tile_cols", ranks.tile().cols.size()}};
}

// Compares with the serial solution on rank 0. Collective; every rank learns the verdict.
void Verify(const HeatOptions& options, const Ranks& ranks, const Jacobi& jacobi,
            HeatReport* report) {
  const std::vector<double> field = jacobi.GatherField();
  int verified = 0;
  if (ranks.rank() == 0) {
    const Solution serial = SolveSerial(options.plate(), options.steps);
    for (size_t i = 0; i < field.size(); ++i) {
      const double error = std::abs(field[i] - serial.field[i]);
      const double counted = error >= 0 ? error : std::numeric_limits<double>::infinity();
      report->max_error = std::max(report->max_error, counted);  // NaN counts as infinitely wrong
    }
    verified = report->max_error == 0 && serial.residual == report->residual ? 1 : 0;
  }
  MPI_Bcast(&verified, 1, MPI_INT, 0, ranks.comm());
  report->checked = true;
  report->verified = verified == 1;
}

// One run that goes on from its checkpoints. Collective.
void RunThroughFailures(const HeatOptions& options, const Ranks& ranks, PhaseMarker* marker,
                        Jacobi* jacobi, Outcome* outcome) {
  const std::unique_ptr<HeatCheckpoint> checkpoint =
      HeatCheckpoint::Open(options.checkpoint, options.plate(), ranks, &outcome->problem);
  if (checkpoint == nullptr) {
    return;
  }
  jacobi->Begin();
  HeatReport& report = outcome->report;
  report.first_step = checkpoint->Restore(options.steps, jacobi, &outcome->problem);
  if (!outcome->problem.empty()) {
    return;
  }
  const RunResult result = jacobi->Continue(report.first_step, options.steps, [&](int64_t step) {
    const PhaseMarker::Span phase = marker->Phase("checkpoint");
    return checkpoint->AfterStep(step, *jacobi);
  });
  report.residual = result.residual;
  report.seconds = {result.seconds};
  report.wait_seconds = {result.wait_seconds};
  report.checkpoints = checkpoint->costs();
  report.again = result.ended_early;
  if (report.again && ranks.rank() == 0) {
    std::cerr << "heat2d: checkpointed after step " << result.step << ": run me again\n";
  }
}

void Repeat(const HeatOptions& options, Jacobi* jacobi, HeatReport* report) {
  for (int64_t i = 0; i < options.bench.warmup + options.bench.repeat; ++i) {
    const RunResult result = jacobi->Run(options.steps);
    report->repeatable = report->repeatable && (i == 0 || result.residual == report->residual);
    report->residual = result.residual;
    if (i >= options.bench.warmup) {
      report->seconds.push_back(result.seconds);
      report->wait_seconds.push_back(result.wait_seconds);
    }
  }
}

Outcome Solve(const HeatOptions& options, const Ranks& ranks, PhaseMarker* marker) {
  Outcome outcome;
  outcome.problem = CheckMemory(options, ranks);
  if (!outcome.problem.empty()) {
    return outcome;
  }
  Jacobi jacobi(options.plate(), ranks, marker);
  if (ranks.Max(jacobi.allocated() ? 0 : 1) > 0) {
    outcome.problem = "the system refused the memory for the plate: choose fewer cells";
    return outcome;
  }
  HeatReport& report = outcome.report;
  if (options.checkpoint.on()) {
    RunThroughFailures(options, ranks, marker, &jacobi, &outcome);
    if (!outcome.problem.empty() || report.again) {
      return outcome;
    }
  } else {
    Repeat(options, &jacobi, &report);
  }
  if (options.bench.verify) {
    Verify(options, ranks, jacobi, &report);
  }
  report.copy_bytes_per_s = jacobi.MeasureCopy();
  for (const std::string& place : ranks.Gather(OwnPlace(ranks).dump())) {
    report.map.push_back(nlohmann::ordered_json::parse(place));
  }
  return outcome;
}

int RunRanks(const HeatOptions& options, const CommandLine& line, int world_rank) {
  const std::unique_ptr<Ranks> ranks = Ranks::Make(MPI_COMM_WORLD, options.nx, options.ny);
  if (ranks == nullptr) {
    std::ostringstream problem;
    problem << "--nx " << options.nx << " --ny " << options.ny
            << ": too few cells for these ranks: use fewer ranks or a larger plate";
    return world_rank == 0 ? line.Refuse(problem.str(), std::cerr) : kExitUsage;
  }
  RankTimeline timeline(ranks->comm(), options.timeline);
  Outcome outcome;
  outcome.problem = timeline.problem();
  if (outcome.problem.empty()) {
    outcome = Solve(options, *ranks, timeline.marker());
  }
  if (!timeline.Join() && outcome.problem.empty()) {
    outcome.problem = "--timeline: " + Printable(options.timeline) + " cannot be written";
  }
  if (!outcome.problem.empty()) {
    return world_rank == 0 ? line.Refuse(outcome.problem, std::cerr) : kExitUsage;
  }
  if (outcome.report.again) {
    return kExitAgain;
  }
  if (world_rank == 0 && options.bench.json) {
    PrintHeatJson(options, *ranks, outcome.report);
  } else if (world_rank == 0) {
    PrintHeatText(options, *ranks, outcome.report);
  }
  return outcome.report.ok() ? kExitOk : kExitFailed;
}

int Run(int argc, char** argv) {
  HeatOptions options;
  options.bench.n = 1024;
  const CommandLine line = MakeCommandLine(&options);
  std::ostringstream out;
  std::ostringstream err;
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::string problem = TakeCheckpointOptions(&arguments, &options.checkpoint);
  std::optional<int> exit = line.Parse(arguments, out, err);
  if (!exit.has_value() && !problem.empty()) {
    exit = line.Refuse(problem, err);
  }
  if (options.checkpoint.on()) {
    options.bench.warmup = 0;
    options.bench.repeat = 1;
  }
  options.nx = options.nx == 0 ? options.bench.n : options.nx;
  options.ny = options.ny == 0 ? options.bench.n : options.ny;

  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < MPI_THREAD_FUNNELED) {
    omp_set_num_threads(1);
  }
  if (exit.has_value()) {
    // Every rank read the same line: one of them answers.
    if (rank == 0) {
      std::cout << out.str() << std::flush;
      std::cerr << err.str();
    }
  } else {
    exit = RunRanks(options, line, rank);
  }
  MPI_Finalize();
  return *exit;
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
