#include "cli/report/report_tables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/frame/json_output.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::cli {
namespace {

constexpr double kSecondsOfHour = 3600;
constexpr double kBarCells = 20;
constexpr double kJoulesOfKwh = 3'600'000;

// A column of a report of use.
struct TresColumn {
  const char* name;
  const char* title;
  double (*amount)(const UsageRow& row);
  bool is_cost = false;
};
constexpr TresColumn kTresColumns[] = {
    {"cpu", "CPU-HOURS", [](const UsageRow& row) { return row.cpu_seconds / kSecondsOfHour; }},
    {"gpu", "GPU-HOURS", [](const UsageRow& row) { return row.gpu_seconds / kSecondsOfHour; }},
    {"mem", "GIB-HOURS",
     [](const UsageRow& row) { return row.memory_mib_seconds / 1024 / kSecondsOfHour; }},
    {"node", "NODE-HOURS", [](const UsageRow& row) { return row.node_seconds / kSecondsOfHour; }},
    {"energy", "KWH", [](const UsageRow& row) { return row.joules.value_or(0) / kJoulesOfKwh; }},
    {"cost", "COST", [](const UsageRow& row) { return row.cost; }, true},
};

const TresColumn* ColumnOf(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kTresColumns), std::end(kTresColumns),
                   [&name](const TresColumn& column) { return name == column.name; });
  return found == std::end(kTresColumns) ? nullptr : found;
}

double Hours(double seconds) {
  return seconds / kSecondsOfHour;
}

std::optional<double> ShareOf(double part, double whole) {
  return whole <= 0 ? std::nullopt : std::optional(part / whole);
}

std::string PerCent(std::optional<double> share) {
  return share.has_value() ? absl::StrFormat("%.0f %%", 100 * *share) : "-";
}

std::string Bar(std::optional<double> share) {
  const double cells = std::round(kBarCells * std::min(share.value_or(0), 1.0));
  return std::string(static_cast<std::size_t>(cells), '#');
}

Column Number(const std::string& title) {
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

std::vector<Column> KeyColumns(const std::vector<ReportBy>& by) {
  std::vector<Column> columns;
  columns.reserve(by.size());
  for (const ReportBy key : by) {
    columns.push_back(Words(Name(key)));
  }
  return columns;
}

std::vector<Cell> NameCells(const GroupNames& names) {
  std::vector<Cell> cells;
  cells.reserve(names.size());
  for (const std::string& name : names) {
    cells.push_back({NameText(name)});
  }
  return cells;
}

std::string ByText(const std::vector<ReportBy>& by) {
  return absl::StrJoin(by, ",",
                       [](std::string* out, ReportBy key) { absl::StrAppend(out, Name(key)); });
}

Json NamedRow(const std::vector<ReportBy>& by, const GroupNames& names) {
  Json row = {{"name", absl::StrJoin(names, ",")}};
  for (std::size_t i = 0; by.size() > 1 && i < by.size(); ++i) {
    row[Name(by[i])] = names[i];
  }
  return row;
}

std::string SizeText(const SizeRow& row) {
  const char* unit = row.gpus ? " GPU" : " CPU";
  return row.least == row.most ? absl::StrCat(row.most, unit, row.most == 1 ? "" : "s")
                               : absl::StrCat(row.least, "-", row.most, unit, "s");
}

// The cost's is the currency.
std::string TitleOf(const TresColumn& column, const std::vector<UsageRow>& rows) {
  for (const UsageRow& row : rows) {
    if (column.is_cost && !row.currency.empty()) {
      return row.currency;
    }
  }
  return column.title;
}

std::string AmountText(const TresColumn& column, const UsageRow& row) {
  if (column.is_cost) {
    return row.currency.empty() ? "-" : absl::StrFormat("%.2f", row.cost);
  }
  if (column.name == std::string("energy") && !row.joules.has_value()) {
    return "-";
  }
  return absl::StrFormat("%.1f", column.amount(row));
}

std::optional<double> EfficiencyOf(const UsageRow& row) {
  return ShareOf(row.worked_cpu_seconds, row.measured_cpu_seconds);
}

void AddUse(const UsageRow& row, Json& entry) {
  entry["jobs"] = row.jobs;
  entry["failed"] = row.failed;
  entry["cpu_hours"] = Hours(row.cpu_seconds);
  entry["gpu_hours"] = Hours(row.gpu_seconds);
  entry["memory_gib_hours"] = Hours(row.memory_mib_seconds) / 1024;
  entry["node_hours"] = Hours(row.node_seconds);
  entry["energy_kwh"] = row.joules.has_value() ? Json(*row.joules / kJoulesOfKwh) : Json(nullptr);
  entry["cost"] = row.currency.empty() ? Json(nullptr) : Json(row.cost);
  entry["currency"] = row.currency.empty() ? Json(nullptr) : Json(row.currency);
  entry["cpu_efficiency"] = ToJson(EfficiencyOf(row));
}

}  // namespace

std::optional<ReportedTres> ReadReportedTres(const std::string& words) {
  ReportedTres tres = absl::StrSplit(words, ',');
  const bool known = std::all_of(tres.begin(), tres.end(),
                                 [](const std::string& name) { return ColumnOf(name) != nullptr; });
  return known ? std::optional(std::move(tres)) : std::nullopt;
}

std::string PrintUsage(const std::vector<UsageRow>& rows, const std::vector<ReportBy>& by,
                       const ReportedTres& tres, bool header, const Style& style) {
  std::vector<Column> columns = KeyColumns(by);
  columns.push_back(Number("JOBS"));
  columns.push_back(Number("FAILED"));
  for (const std::string& name : tres) {
    columns.push_back(Number(TitleOf(*ColumnOf(name), rows)));
  }
  columns.push_back(Number("CPU-USE"));
  Table table(std::move(columns));
  for (const UsageRow& row : rows) {
    std::vector<Cell> cells = NameCells(row.names);
    cells.push_back({absl::StrCat(row.jobs)});
    cells.push_back({absl::StrCat(row.failed), row.failed > 0 ? Paint::kYellow : Paint::kPlain});
    for (const std::string& name : tres) {
      cells.push_back({AmountText(*ColumnOf(name), row)});
    }
    cells.push_back({PerCent(EfficiencyOf(row))});
    table.Add(cells);
  }
  return table.Print(style, header);
}

std::string PrintWaits(const std::vector<WaitRow>& rows, const std::vector<ReportBy>& by,
                       bool header, const Style& style) {
  std::vector<Column> columns = KeyColumns(by);
  for (const char* title : {"STARTED", "MEDIAN", "P90", "P99", "LONGEST"}) {
    columns.push_back(Number(title));
  }
  Table table(std::move(columns));
  for (const WaitRow& row : rows) {
    std::vector<Cell> cells = NameCells(row.names);
    cells.push_back({absl::StrCat(row.jobs)});
    for (const Duration wait : {row.median, row.p90, row.p99, row.longest}) {
      cells.push_back({ElapsedText(wait)});
    }
    table.Add(cells);
  }
  return table.Print(style, header);
}

std::string PrintSizes(const std::vector<SizeRow>& rows, const std::vector<ReportBy>& by,
                       const ReportedTres& tres, bool header, const Style& style) {
  double jobs = 0;
  std::vector<UsageRow> used;
  for (const SizeRow& row : rows) {
    jobs += static_cast<double>(row.used.jobs);
    used.push_back(row.used);
  }
  std::vector<Column> columns = KeyColumns(by);
  columns.push_back(Words("size"));
  columns.push_back(Number("JOBS"));
  columns.push_back(Number("SHARE"));
  columns.push_back({.title = "", .right = false, .least = 0});
  for (const std::string& name : tres) {
    columns.push_back(Number(TitleOf(*ColumnOf(name), used)));
  }
  columns.push_back(Number("MEDIAN"));
  Table table(std::move(columns));
  for (const SizeRow& row : rows) {
    const auto share = ShareOf(static_cast<double>(row.used.jobs), jobs);
    std::vector<Cell> cells = NameCells(row.used.names);
    cells.push_back({SizeText(row)});
    cells.push_back({absl::StrCat(row.used.jobs)});
    cells.push_back({PerCent(share)});
    cells.push_back({Bar(share), Paint::kGreen});
    for (const std::string& name : tres) {
      cells.push_back({AmountText(*ColumnOf(name), row.used)});
    }
    cells.push_back({ElapsedText(row.median)});
    table.Add(cells);
  }
  return table.Print(style, header);
}

std::string PrintLoad(const std::vector<LoadRow>& rows, const std::vector<ReportBy>& by,
                      const ReportedTres& tres, bool header, const Style& style) {
  std::vector<Column> columns = {Words("from")};
  for (Column& column : KeyColumns(by)) {
    columns.push_back(std::move(column));
  }
  columns.push_back(Number("JOBS"));
  for (const char* name : {"cpu", "gpu"}) {
    if (Contains(tres, std::string(name))) {
      columns.push_back(Number(absl::AsciiStrToUpper(name) + "S"));
      columns.push_back({.title = "", .right = false, .least = 0});
    }
  }
  Table table(std::move(columns));
  for (const LoadRow& row : rows) {
    std::vector<Cell> cells = {{MomentText(row.period.start, style.zone)}};
    for (Cell& cell : NameCells(row.names)) {
      cells.push_back(std::move(cell));
    }
    cells.push_back({absl::StrFormat("%.1f", row.jobs)});
    for (const auto& [name, share] :
         {std::pair("cpu", ShareOf(row.cpu_seconds, row.cpu_offered)),
          std::pair("gpu", ShareOf(row.gpu_seconds, row.gpu_offered))}) {
      if (Contains(tres, std::string(name))) {
        cells.push_back({PerCent(share)});
        cells.push_back({Bar(share), Paint::kGreen});
      }
    }
    table.Add(cells);
  }
  return table.Print(style, header);
}

std::string UsageDocument(const std::vector<UsageRow>& rows, const std::vector<ReportBy>& by,
                          const UsageWindow& window) {
  Json document = Head(window);
  document["by"] = ByText(by);
  document["usage"] = Json::array();
  for (const UsageRow& row : rows) {
    Json entry = NamedRow(by, row.names);
    AddUse(row, entry);
    document["usage"].push_back(std::move(entry));
  }
  return PrintJson(document);
}

std::string WaitsDocument(const std::vector<WaitRow>& rows, const std::vector<ReportBy>& by,
                          const UsageWindow& window) {
  Json document = Head(window);
  document["by"] = ByText(by);
  document["waits"] = Json::array();
  for (const WaitRow& row : rows) {
    Json entry = NamedRow(by, row.names);
    entry["jobs"] = row.jobs;
    entry["median"] = ToJson(row.median);
    entry["p90"] = ToJson(row.p90);
    entry["p99"] = ToJson(row.p99);
    entry["longest"] = ToJson(row.longest);
    document["waits"].push_back(std::move(entry));
  }
  return PrintJson(document);
}

std::string SizesDocument(const std::vector<SizeRow>& rows, const std::vector<ReportBy>& by,
                          const UsageWindow& window) {
  Json document = Head(window);
  document["by"] = ByText(by);
  document["sizes"] = Json::array();
  for (const SizeRow& row : rows) {
    Json entry = by.empty() ? Json::object() : NamedRow(by, row.used.names);
    entry["of"] = row.gpus ? "gpus" : "cpus";
    entry["least"] = row.least;
    entry["most"] = row.most;
    AddUse(row.used, entry);
    entry["median"] = ToJson(row.median);
    document["sizes"].push_back(std::move(entry));
  }
  return PrintJson(document);
}

std::string LoadDocument(const std::vector<LoadRow>& rows, const std::vector<ReportBy>& by,
                         const UsageWindow& window) {
  Json document = Head(window);
  document["by"] = ByText(by);
  document["utilization"] = Json::array();
  for (const LoadRow& row : rows) {
    Json entry = by.empty() ? Json::object() : NamedRow(by, row.names);
    entry["since"] = ToJson(row.period.start);
    entry["until"] = ToJson(row.period.end);
    entry["jobs"] = row.jobs;
    entry["cpus"] = ToJson(ShareOf(row.cpu_seconds, row.cpu_offered));
    entry["gpus"] = ToJson(ShareOf(row.gpu_seconds, row.gpu_offered));
    document["utilization"].push_back(std::move(entry));
  }
  return PrintJson(document);
}

}  // namespace muster::cli
