#include "cli/report/report_tables.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::cli {
namespace {

constexpr double kSecondsOfHour = 3600;
constexpr double kBarCells = 20;

double Hours(double seconds) {
  return seconds / kSecondsOfHour;
}

std::optional<double> ShareOf(double part, double whole) {
  return whole <= 0 ? std::nullopt : std::optional(part / whole);
}

std::string PerCent(std::optional<double> share) {
  return share.has_value() ? absl::StrFormat("%.0f %%", 100 * *share) : "-";
}

std::string HoursText(double seconds) {
  return absl::StrFormat("%.1f", Hours(seconds));
}

std::string Bar(std::optional<double> share) {
  const double cells = std::round(kBarCells * std::min(share.value_or(0), 1.0));
  return std::string(static_cast<std::size_t>(cells), '#');
}

Column Number(const char* title) {
  return {.title = title, .right = true, .least = 0};
}

Column Words(const std::string& title) {
  return {.title = absl::AsciiStrToUpper(title), .right = false, .least = 8};
}

std::string NameText(const std::string& name) {
  return name.empty() ? "-" : name;
}

Json Head(const UsageWindow& window) {
  Json document = Json::object();
  document["since"] = ToJson(window.start);
  document["until"] = ToJson(window.end);
  return document;
}

std::optional<double> EfficiencyOf(const UsageRow& row) {
  return ShareOf(row.worked_cpu_seconds, row.measured_cpu_seconds);
}

}  // namespace

std::string PrintUsage(const std::vector<UsageRow>& rows, ReportBy by, bool header,
                       const Style& style) {
  Table table({Words(Name(by)), Number("JOBS"), Number("FAILED"), Number("CPU-HOURS"),
               Number("GPU-HOURS"), Number("GIB-HOURS"), Number("CPU-USE")});
  for (const UsageRow& row : rows) {
    table.Add({{NameText(row.name)},
               {absl::StrCat(row.jobs)},
               {absl::StrCat(row.failed), row.failed > 0 ? Paint::kYellow : Paint::kPlain},
               {HoursText(row.cpu_seconds)},
               {HoursText(row.gpu_seconds)},
               {HoursText(row.memory_mib_seconds / 1024)},
               {PerCent(EfficiencyOf(row))}});
  }
  return table.Print(style, header);
}

std::string PrintWaits(const std::vector<WaitRow>& rows, ReportBy by, bool header,
                       const Style& style) {
  Table table({Words(Name(by)), Number("STARTED"), Number("MEDIAN"), Number("P90"), Number("P99"),
               Number("LONGEST")});
  for (const WaitRow& row : rows) {
    table.Add({{NameText(row.name)},
               {absl::StrCat(row.jobs)},
               {ElapsedText(row.median)},
               {ElapsedText(row.p90)},
               {ElapsedText(row.p99)},
               {ElapsedText(row.longest)}});
  }
  return table.Print(style, header);
}

std::string PrintLoad(const std::vector<LoadRow>& rows, bool header, const Style& style) {
  Table table({Words("from"),
               Number("JOBS"),
               Number("CPUS"),
               {.title = "", .right = false, .least = 0},
               Number("GPUS"),
               {.title = "", .right = false, .least = 0}});
  for (const LoadRow& row : rows) {
    const auto cpus = ShareOf(row.cpu_seconds, row.cpu_offered);
    const auto gpus = ShareOf(row.gpu_seconds, row.gpu_offered);
    table.Add({{MomentText(row.period.start, style.zone)},
               {absl::StrFormat("%.1f", row.jobs)},
               {PerCent(cpus)},
               {Bar(cpus), Paint::kGreen},
               {PerCent(gpus)},
               {Bar(gpus), Paint::kGreen}});
  }
  return table.Print(style, header);
}

std::string UsageDocument(const std::vector<UsageRow>& rows, ReportBy by,
                          const UsageWindow& window) {
  Json document = Head(window);
  document["by"] = Name(by);
  document["usage"] = Json::array();
  for (const UsageRow& row : rows) {
    document["usage"].push_back({{"name", row.name},
                                 {"jobs", row.jobs},
                                 {"failed", row.failed},
                                 {"cpu_hours", Hours(row.cpu_seconds)},
                                 {"gpu_hours", Hours(row.gpu_seconds)},
                                 {"memory_gib_hours", Hours(row.memory_mib_seconds) / 1024},
                                 {"cpu_efficiency", ToJson(EfficiencyOf(row))}});
  }
  return PrintJson(document);
}

std::string WaitsDocument(const std::vector<WaitRow>& rows, ReportBy by,
                          const UsageWindow& window) {
  Json document = Head(window);
  document["by"] = Name(by);
  document["waits"] = Json::array();
  for (const WaitRow& row : rows) {
    document["waits"].push_back({{"name", row.name},
                                 {"jobs", row.jobs},
                                 {"median", ToJson(row.median)},
                                 {"p90", ToJson(row.p90)},
                                 {"p99", ToJson(row.p99)},
                                 {"longest", ToJson(row.longest)}});
  }
  return PrintJson(document);
}

std::string LoadDocument(const std::vector<LoadRow>& rows, const UsageWindow& window) {
  Json document = Head(window);
  document["utilization"] = Json::array();
  for (const LoadRow& row : rows) {
    document["utilization"].push_back(
        {{"since", ToJson(row.period.start)},
         {"until", ToJson(row.period.end)},
         {"jobs", row.jobs},
         {"cpus", ToJson(ShareOf(row.cpu_seconds, row.cpu_offered))},
         {"gpus", ToJson(ShareOf(row.gpu_seconds, row.gpu_offered))}});
  }
  return PrintJson(document);
}

}  // namespace muster::cli
