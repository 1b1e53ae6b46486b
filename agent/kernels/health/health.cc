// health: what a node is worth just now: bandwidth, latency, arithmetic, GPUs, error counters.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/harness/command_line.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/health/child.h"
#include "agent/kernels/health/counters.h"
#include "agent/kernels/health/gpu_checks.h"
#include "agent/kernels/health/node_checks.h"

namespace muster::kernels {
namespace {

constexpr double kQuickSeconds = 3;
constexpr double kBurnInSeconds = 300;

struct Request {
  bool quick = false;
  bool burn_in = false;
  bool json = false;
  bool with_parent = false;
  bool no_gpus = false;
  double seconds = 0;
};

std::string OwnDirectory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

// A burn-in's figures are of a node that is hot: others than a quick check's.
std::vector<Figure> Renamed(std::vector<Figure> figures) {
  for (Figure& figure : figures) {
    if (figure.better == Better::kHigher || figure.better == Better::kLower) {
      figure.component = "sustained " + figure.component;
    }
  }
  return figures;
}

std::vector<Figure> CheckAll(const Request& request) {
  const double standard = request.burn_in ? kBurnInSeconds : kQuickSeconds;
  const double seconds = request.seconds > 0 ? request.seconds : standard;
  const NodeCounters before = ReadCounters();
  std::vector<Figure> figures = CheckNode(seconds);
  if (!request.no_gpus) {
    for (Figure& figure : CheckGpus(OwnDirectory())) {
      figures.push_back(std::move(figure));
    }
  }
  for (Figure& figure : CounterFigures(before, ReadCounters())) {
    figures.push_back(std::move(figure));
  }
  return request.burn_in ? Renamed(std::move(figures)) : figures;
}

bool IsDefect(const Figure& figure) {
  return figure.better == Better::kNever && figure.value > 0;
}

void PrintJson(const Request& request, const std::vector<Figure>& figures) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Figure& figure : figures) {
    rows.push_back({{"component", figure.component},
                    {"unit", figure.unit},
                    {"better", ToText(figure.better)},
                    {"value", figure.value},
                    {"roof", figure.roof}});
  }
  nlohmann::ordered_json json = {
      {"kernel", "health"}, {"kind", request.burn_in ? "burn-in" : "quick"}, {"figures", rows}};
  json["node"] = NodeJson();
  json.update(CpuFacts());
  std::cout << json.dump() << "\n";
}

void PrintText(const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    std::printf("%-32s %10.3f %-8s%s", figure.component.c_str(), figure.value, figure.unit.c_str(),
                IsDefect(figure) ? " DEFECT" : "");
    if (figure.roof > 0) {
      std::printf(" %3.0f %% of the best seen here", 100 * figure.value / figure.roof);
    }
    std::printf("\n");
  }
}

int Run(int argc, char** argv) {
  Request request;
  CommandLine line("health",
                   "what this node is worth just now: clock, memory bandwidth and latency, matrix "
                   "product, each\nGPU's memory, arithmetic and links, and the counters of memory "
                   "errors and throttling.\nWhat is good is for muster health to say, which knows "
                   "the other nodes.",
                   "health --quick --json");
  line.AddSwitch("quick", "some seconds (default)", &request.quick);
  line.AddSwitch("burn-in", "minutes", &request.burn_in);
  line.AddReal("seconds", "for the processors' part; 0: 3, of a burn-in 300", &request.seconds, 0,
               86400);
  line.AddSwitch("no-gpus", "leave the GPUs out", &request.no_gpus);
  line.AddSwitch("with-parent", "end when the process that started this one ends",
                 &request.with_parent);
  line.AddSwitch("json", "print one JSON document on one line", &request.json);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::optional<int> exit = line.Parse(arguments, std::cout, std::cerr);
  if (exit.has_value()) {
    return *exit;
  }
  if (request.quick && request.burn_in) {
    return line.Refuse("--quick and --burn-in: choose one", std::cerr);
  }
  if (request.with_parent && !DieWithParent()) {
    return kExitFailed;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread of ours
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);  // as nvidia-smi counts
  const std::vector<Figure> figures = CheckAll(request);
  if (request.json) {
    PrintJson(request, figures);
  } else {
    PrintText(figures);
  }
  for (const Figure& figure : figures) {
    if (IsDefect(figure)) {
      return kExitFailed;
    }
  }
  return kExitOk;
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
