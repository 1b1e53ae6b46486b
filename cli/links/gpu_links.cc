#include "cli/links/gpu_links.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::size_t kMachinesAtOnce = 64;  // of one question
constexpr const char* kOneEach = "--gpus-per-task=1";

// What keeps the node's GPUs from being joined; empty: nothing.
std::string WhyNotJoined(const NodeView& view) {
  const std::vector<Gpu>& gpus = view.machine.gpus;
  if (!view.gpu_occupants.empty()) {
    return "others use GPUs of it";
  }
  if (std::any_of(gpus.begin(), gpus.end(), [](const Gpu& gpu) { return !gpu.instance.empty(); })) {
    return "its GPUs are divided (MIG)";
  }
  const bool mixed = std::any_of(gpus.begin(), gpus.end(), [&gpus](const Gpu& gpu) {
    return gpu.vendor != gpus.front().vendor;
  });
  return mixed ? "it has GPUs of several makers" : "";
}

// The pairs of a node's document, their ends numbered from `first` on.
std::vector<MeasuredLink> PairsOf(const absl::StatusOr<Json>& document, std::size_t first) {
  std::vector<MeasuredLink> links;
  for (const Json& pair : document.ok() ? document->value("pairs", Json::array()) : Json::array()) {
    MeasuredLink link;
    link.a = first + pair["ranks"][0].get<std::size_t>();
    link.b = first + pair["ranks"][1].get<std::size_t>();
    link.bandwidth = pair["bandwidth_gb_per_s"].get<double>() * 1e9;
    links.push_back(std::move(link));
  }
  return links;
}

// One node's part of the survey of its kind.
void AddInside(const GpuNode& node, const absl::StatusOr<Json>& document, Survey* survey) {
  const std::size_t first = survey->ends.size();
  for (std::size_t rank = 0; rank < node.gpus.size(); ++rank) {
    const Json gpus = document.ok() ? document->value("gpus", Json::array()) : Json::array();
    const std::string address = rank < gpus.size() ? gpus[rank].get<std::string>() : "";
    survey->ends.push_back(
        {absl::StrCat(node.node.name, " ", GpuAt(node.gpus, address, rank)), {}});
  }
  std::vector<MeasuredLink> links = PairsOf(document, first);
  if (links.empty()) {
    links.push_back({.a = first, .b = first + 1, .failure = "it reported no pairs"});
    TakeReport(document, links.back());
  }
  survey->links.insert(survey->links.end(), links.begin(), links.end());
}

}  // namespace

std::string GpuAt(const std::vector<Gpu>& gpus, const std::string& address, std::size_t rank) {
  constexpr std::size_t kShort = 12;  // "0000:1b:00.0": some put more zeros before it
  const auto tail = [](const std::string& text) {
    return absl::AsciiStrToLower(text.size() > kShort ? text.substr(text.size() - kShort) : text);
  };
  for (std::size_t i = 0; i < gpus.size() && !address.empty(); ++i) {
    if (tail(gpus[i].pci_address) == tail(address)) {
      return absl::StrCat("GPU ", i);
    }
  }
  return absl::StrCat("GPU of rank ", rank);
}

absl::StatusOr<std::vector<GpuNode>> GpuNodesOf(const std::vector<NodeView>& idle,
                                                Connection& connection) {
  std::vector<std::string> names;
  for (const NodeView& view : idle) {
    if (view.gpus > 0) {
      names.push_back(view.name);
    }
  }
  std::vector<GpuNode> nodes;
  for (std::size_t i = 0; i < names.size(); i += kMachinesAtOnce) {
    const auto begin = names.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = names.size() - i > kMachinesAtOnce
                         ? begin + static_cast<std::ptrdiff_t>(kMachinesAtOnce)
                         : names.end();
    ASSIGN_OR_RETURN(const NodeList list,
                     connection.Call(ListNodes{{begin, end}, /*with_machine=*/true}));
    for (const NodeView& view : list.nodes) {
      const std::string why_not = WhyNotJoined(view);
      if (why_not.empty()) {
        nodes.push_back({{view.name, view.topology}, view.machine.gpus});
      } else {
        std::cerr << "muster health: GPUs of " << view.name << " are left out: " << why_not << "\n";
      }
    }
  }
  return nodes;
}

Survey SurveyBetween(const LinkRun& run, const std::vector<GpuNode>& nodes, std::size_t rounds,
                     double least, const std::function<bool(std::size_t, std::size_t)>& wanted) {
  Survey survey;
  survey.title = "GPUs of two nodes, all of both together";
  survey.between_nodes = true;
  for (const GpuNode& node : nodes) {
    survey.ends.push_back(node.node);
  }
  const auto joined = [&](std::size_t a, std::size_t b) {
    return nodes[a].gpus.front().vendor == nodes[b].gpus.front().vendor && wanted(a, b);
  };
  survey.links = MeasureRounds(
      "links of GPUs", LinkRounds(nodes.size(), rounds), joined, [&](MeasuredLink& link) {
        const GpuNode& a = nodes[link.a];
        const GpuNode& b = nodes[link.b];
        const auto ranks = static_cast<std::uint32_t>(std::min(a.gpus.size(), b.gpus.size()));
        TakeReport(run.On({a.node.name, b.node.name}, ranks, {kOneEach}, {}), link);
      });
  survey.report = JudgeLinks(survey.ends, survey.links, least);
  return survey;
}

std::vector<Survey> SurveysInside(const LinkRun& run, const std::vector<GpuNode>& nodes,
                                  double least) {
  std::vector<absl::StatusOr<Json>> documents(nodes.size(), Json());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].gpus.size() > 1) {
      threads.emplace_back([&, i] {
        documents[i] =
            run.On({nodes[i].node.name}, static_cast<std::uint32_t>(nodes[i].gpus.size()),
                   {kOneEach}, {"--pairs"});
      });
    }
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::map<std::string, Survey> by_kind;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].gpus.size() > 1) {
      const std::string title = absl::StrCat("Each two GPUs of a node with ", nodes[i].gpus.size(),
                                             " ", nodes[i].gpus.front().model);
      AddInside(nodes[i], documents[i], &by_kind[title]);
    }
  }
  std::vector<Survey> surveys;
  for (auto& [title, survey] : by_kind) {
    survey.title = title;
    survey.report = JudgeLinks(survey.ends, survey.links, least);
    for (LinkClass& each : survey.report.classes) {
      each.name = "inside a node";
    }
    surveys.push_back(std::move(survey));
  }
  return surveys;
}

}  // namespace muster::cli
