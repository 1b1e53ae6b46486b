#include "agent/kernels/health/gpu_checks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "agent/kernels/health/child.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::json;

constexpr const char* kIndex = "index";
constexpr const char* kUncorrected = "ecc.errors.uncorrected.volatile.total";
constexpr const char* kCorrected = "ecc.errors.corrected.volatile.total";
constexpr const char* kRowFailure = "remapped_rows.failure";
constexpr const char* kRowPending = "remapped_rows.pending";
constexpr const char* kThermal = "clocks_event_reasons_counters.hw_thermal_slowdown";
constexpr const char* kPowerBrake = "clocks_event_reasons_counters.hw_power_brake_slowdown";
constexpr const char* kTemperature = "temperature.gpu";
constexpr const char* kLinkWidth = "pcie.link.width.current";

constexpr std::array kFields = {kIndex,   kUncorrected, kCorrected,   kRowFailure, kRowPending,
                                kThermal, kPowerBrake,  kTemperature, kLinkWidth};

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  const size_t end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Yes and No are 1 and 0; nothing for "[N/A]" and its like.
std::optional<double> NumberOf(const GpuAnswers& answers, const char* field) {
  const auto found = answers.find(field);
  if (found == answers.end()) {
    return std::nullopt;
  }
  if (found->second == "Yes" || found->second == "No") {
    return found->second == "Yes" ? 1 : 0;
  }
  double value = 0;
  const char* const end = found->second.data() + found->second.size();
  const auto [rest, error] = std::from_chars(found->second.data(), end, value);
  return error == std::errc() && rest == end && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string NameOf(const GpuAnswers& answers) {
  return "GPU " + answers.at(kIndex);
}

// A counter of microseconds: by how many milliseconds it grew.
void AddGrowth(const GpuAnswers& before, const GpuAnswers& after, const char* field,
               const char* what, std::vector<Figure>* figures) {
  const std::optional<double> from = NumberOf(before, field);
  const std::optional<double> to = NumberOf(after, field);
  if (from.has_value() && to.has_value()) {
    figures->push_back(
        {NameOf(after) + " " + what, "ms", Better::kLower, std::max(0.0, (*to - *from) / 1000), 0});
  }
}

struct KernelFigure {
  const char* operation;  // its name, or the beginning of it
  const char* component;
  const char* rate;  // in the document
  const char* unit;
  double scale;
  bool has_roof;  // the document's peak of that rate is its roof
};
constexpr std::array<KernelFigure, 4> kKernelFigures = {{
    {"copy", "memory bandwidth", "gb_per_s", "GB/s", 1, true},
    {"gemm-tiled", "matrix product", "gflop_per_s", "TFLOP/s", 1e-3, true},
    {"host-to-device-pinned", "copy from the host", "gb_per_s", "GB/s", 1, false},
    {"device-to-host-pinned", "copy to the host", "gb_per_s", "GB/s", 1, false},
}};

// The measured peak of a rate; 0 where it is not told.
double PeakOf(const Json& document, const char* rate) {
  const Json peaks = document.value("peaks", Json());
  const bool told = peaks.is_object() && peaks.contains(rate) && peaks.at(rate).is_number();
  return told ? peaks.at(rate).get<double>() : 0;
}

void AddOperation(const std::string& gpu, const Json& document, const Json& operation,
                  std::vector<Figure>* figures) {
  const std::string name = operation.value("name", "");
  const auto add = [&](const std::string& component, const char* rate, const char* unit,
                       double scale, double roof) {
    const Json& rates = operation.contains(rate) ? operation.at(rate) : Json();
    if (rates.is_object() && rates.contains("median") && rates.at("median").is_number()) {
      figures->push_back({gpu + " " + component, unit, Better::kHigher,
                          rates.at("median").get<double>() * scale, roof});
    }
  };
  for (const KernelFigure& known : kKernelFigures) {
    if (name == known.operation) {
      add(known.component, known.rate, known.unit, known.scale,
          known.has_roof ? known.scale * PeakOf(document, known.rate) : 0);
    }
  }
  const std::string peer = "peer-";
  const size_t dash = name.find('-', peer.size());
  if (name.compare(0, peer.size(), peer) == 0 && dash != std::string::npos) {
    const std::string to = name.substr(dash + 1);
    add("link to GPU " + to.substr(0, to.find('-')), "gb_per_s", "GB/s", 1, 0);
  }
}

std::vector<GpuAnswers> AskDriver() {
  const std::optional<std::string> answer =
      RunChild({"nvidia-smi", "--query-gpu=" + GpuQueryFields(), "--format=csv,noheader,nounits"});
  return answer.has_value() ? ParseGpuAnswers(*answer) : std::vector<GpuAnswers>();
}

std::vector<Figure> Measure(const std::string& program, const GpuAnswers& answers) {
  const std::string& index = answers.at(kIndex);
  std::vector<Figure> figures;
  const std::array<std::vector<std::string>, 3> loads = {{
      {"--only", "vectors", "--n", "64M", "--repeat", "9"},
      // By rule: what one node searched and another did not is no matter of health.
      {"--only", "gemm", "--by-rule", "--side", "4096", "--n", "1K", "--repeat", "9"},
      {"--only", "transfers", "--n", "64M", "--repeat", "5"},
  }};
  for (const std::vector<std::string>& load : loads) {
    std::vector<std::string> words = {program, "--device", index, "--json"};
    words.insert(words.end(), load.begin(), load.end());
    const std::string document = RunChild(words).value_or("");
    for (Figure& figure : KernelFigures("GPU " + index, document)) {
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace

std::string GpuQueryFields() {
  std::string fields;
  for (const char* field : kFields) {
    fields += fields.empty() ? "" : ",";
    fields += field;
  }
  return fields;
}

std::vector<GpuAnswers> ParseGpuAnswers(const std::string& text) {
  std::vector<GpuAnswers> gpus;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream values(line);
    std::vector<std::string> row;
    for (std::string value; std::getline(values, value, ',');) {
      row.push_back(Trimmed(value));
    }
    if (row.size() != kFields.size()) {
      continue;
    }
    GpuAnswers answers;
    for (size_t i = 0; i < row.size(); ++i) {
      answers[kFields.at(i)] = row[i];
    }
    if (NumberOf(answers, kIndex).has_value()) {
      gpus.push_back(std::move(answers));
    }
  }
  return gpus;
}

std::vector<Figure> CounterFigures(const GpuAnswers& before, const GpuAnswers& after) {
  std::vector<Figure> figures;
  const auto add = [&](const char* field, const char* what, const char* unit, Better better) {
    if (const std::optional<double> value = NumberOf(after, field)) {
      figures.push_back({NameOf(after) + " " + what, unit, better, *value, 0});
    }
  };
  add(kUncorrected, "uncorrected memory errors", "", Better::kNever);
  add(kCorrected, "corrected memory errors", "", Better::kShown);
  add(kRowFailure, "failed row remapping", "", Better::kNever);
  add(kRowPending, "pending row remapping", "", Better::kLower);
  add(kTemperature, "temperature", "C", Better::kShown);
  add(kLinkWidth, "PCIe lanes", "", Better::kHigher);
  AddGrowth(before, after, kThermal, "thermal throttling", &figures);
  AddGrowth(before, after, kPowerBrake, "power throttling", &figures);
  return figures;
}

std::vector<Figure> KernelFigures(const std::string& gpu, const std::string& document) {
  std::vector<Figure> figures;
  const Json read = Json::parse(document, nullptr, false);
  if (!read.is_object() || !read.contains("operations") || !read.at("operations").is_array()) {
    return figures;
  }
  for (const Json& operation : read.at("operations")) {
    if (operation.is_object()) {
      AddOperation(gpu, read, operation, &figures);
    }
  }
  const bool wrong = read.contains("verified") && read.at("verified") == false;
  figures.push_back({gpu + " wrong results", "", Better::kNever, wrong ? 1.0 : 0.0, 0});
  return figures;
}

std::vector<Figure> CheckGpus(const std::string& directory) {
  const std::vector<GpuAnswers> before = AskDriver();
  std::vector<Figure> figures;
  double wrong = 0;
  const std::string program = directory + "/gpu";
  const bool measures = access(program.c_str(), X_OK) == 0;
  for (const GpuAnswers& answers : before) {
    for (Figure& figure : measures ? Measure(program, answers) : std::vector<Figure>()) {
      if (figure.better == Better::kNever) {
        wrong += figure.value;  // of three documents, told once
      } else {
        figures.push_back(std::move(figure));
      }
    }
  }
  const std::vector<GpuAnswers> after = AskDriver();
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
    for (Figure& figure : CounterFigures(before[i], after[i])) {
      figures.push_back(std::move(figure));
    }
  }
  if (!before.empty()) {
    figures.push_back({"GPUs", "", Better::kHigher, static_cast<double>(after.size()), 0});
    figures.push_back({"wrong results of GPUs", "", Better::kNever, wrong, 0});
  }
  return figures;
}

}  // namespace muster::kernels
