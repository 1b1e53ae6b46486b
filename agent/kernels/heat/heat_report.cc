#include "agent/kernels/heat/heat_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <string>

#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"

namespace muster::kernels {
namespace {

constexpr int64_t kFlopPerCell = 7;
constexpr int64_t kBytesPerCell = 16;  // one read and one write; neighbours come from the cache

// Of this run: the steps before a checkpoint were another's.
double CellUpdates(const HeatOptions& options, const HeatReport& report) {
  return static_cast<double>(options.nx) * static_cast<double>(options.ny) *
         static_cast<double>(options.steps - report.first_step);
}

std::vector<double> CellRates(const HeatOptions& options, const HeatReport& report) {
  std::vector<double> rates;
  for (const double seconds : report.seconds) {
    rates.push_back(CellUpdates(options, report) / std::max(seconds, 1e-9));
  }
  return rates;
}

Measured MeasuredOf(const HeatOptions& options, const HeatReport& report) {
  const double cells = CellUpdates(options, report);
  return {"steps", cells * kFlopPerCell, cells * kBytesPerCell, 0, true, report.seconds};
}

// A copy of the plate by the same threads moves the same bytes: what it reached, or more if a step
// did.
Peaks PeaksOf(const Measured& measured, const HeatReport& report) {
  const double best = std::max(Summarise(measured.seconds).min, 1e-9);
  return {0, std::max(report.copy_bytes_per_s, measured.bytes / best)};
}

std::string MpiText() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string version(text.data(), static_cast<size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

// All 17 digits: reading the text back gives the same bits.
std::string ExactText(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

}  // namespace

void PrintHeatJson(const HeatOptions& options, const Ranks& ranks, const HeatReport& report) {
  nlohmann::ordered_json json = BenchJson("heat2d", options.bench);
  if (options.nx == options.ny) {
    json["n"] = options.nx;
  } else {
    json.erase("n");
  }
  json["nx"] = options.nx;
  json["ny"] = options.ny;
  json["steps"] = options.steps;
  json["alpha"] = options.alpha;
  json["ranks"] = ranks.size();
  json["grid"] = {{"rows", ranks.grid().rows}, {"cols", ranks.grid().cols}};
  json["flop"] = CellUpdates(options, report) * kFlopPerCell;
  json["bytes"] = CellUpdates(options, report) * kBytesPerCell;
  json["arithmetic_intensity"] =
      static_cast<double>(kFlopPerCell) / static_cast<double>(kBytesPerCell);
  json["seconds"] = SecondsJson(report.seconds);
  const Measured measured = MeasuredOf(options, report);
  const Peaks peaks = PeaksOf(measured, report);
  const nlohmann::ordered_json figures = MeasuredJson(measured, peaks);
  for (const char* name : {"gb_per_s", "gflop_per_s", "roofline"}) {
    json[name] = figures.at(name);
  }
  json["peaks"] = {{"gb_per_s", peaks.bytes_per_s * 1e-9}};
  json["node"] = NodeJson();
  json["mpi"] = MpiText();
  json["wait_seconds"] = SecondsJson(report.wait_seconds);
  json["cells_per_s"] = RateJson(CellRates(options, report));
  json["residual"] = report.residual;
  json["residual_text"] = ExactText(report.residual);
  json["repeatable"] = report.repeatable;
  json["verified"] = report.checked ? nlohmann::ordered_json(report.verified) : nullptr;
  json["max_error"] = report.checked ? nlohmann::ordered_json(report.max_error) : nullptr;
  if (options.checkpoint.on()) {
    json["first_step"] = report.first_step;
    json["checkpoints"] = report.checkpoints.saved;
    json["checkpoints_failed"] = report.checkpoints.failed;
    json["checkpoint_seconds"] = report.checkpoints.seconds;
  }
  json["map"] = report.map;
  std::cout << json.dump() << std::endl;
}

void PrintHeatText(const HeatOptions& options, const Ranks& ranks, const HeatReport& report) {
  std::cout << "heat2d: " << ranks.size() << " ranks as " << ranks.grid().rows << " x "
            << ranks.grid().cols << ", plate of " << options.ny << " x " << options.nx << " cells, "
            << options.steps << " steps\n";
  for (const nlohmann::ordered_json& place : report.map) {
    std::cout << "rank " << place["rank"] << " host " << place["host"].get<std::string>()
              << " cpus " << place["cpus"].get<std::string>() << " on cpu " << place["cpu"]
              << " node " << place["numa_node"] << " threads " << place["threads"] << " at ("
              << place["row"] << ", " << place["col"] << ") tile " << place["tile_rows"] << " x "
              << place["tile_cols"] << "\n";
  }
  const Summary seconds = Summarise(report.seconds);
  const Summary waits = Summarise(report.wait_seconds);
  const Summary rates = Summarise(CellRates(options, report));
  std::array<char, 200> time{};
  std::snprintf(time.data(), time.size(),
                "time: best %.6f s, median %.6f s, spread %.1f %%, waiting for halos %.6f s\n"
                "rate: best %.1f, median %.1f million cells a second\n",
                seconds.min, seconds.median, 100 * seconds.spread, waits.median, rates.max * 1e-6,
                rates.median * 1e-6);
  std::cout << time.data() << "residual " << ExactText(report.residual) << "\n";
  if (options.checkpoint.on()) {
    std::cout << "checkpoints: began after step " << report.first_step << ", "
              << report.checkpoints.saved << " saved and " << report.checkpoints.failed
              << " failed in " << report.checkpoints.seconds << " s\n";
  }
  if (!report.repeatable) {
    std::cout << "repeat: FAILED, repeats gave different residuals\n";
  }
  if (report.checked) {
    std::cout << "verify: " << (report.verified ? "passed" : "FAILED")
              << ", max abs difference to the serial solution " << report.max_error << "\n";
  }
  std::cout << std::flush;
}

}  // namespace muster::kernels
