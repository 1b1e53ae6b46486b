#include "cli/jobs/job_columns.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

// The member of that name; null where there is none.
Json ValueOf(const JobView& job, const std::string& name) {
  Json value = nullptr;
  ForEachField(job, [&](const char* field, const auto& member) {
    if (name == field) {
      value = ToJson(member);
    }
  });
  return value;
}

std::string TextOf(const Json& value) {
  if (value.is_null()) {
    return "-";
  }
  if (value.is_string()) {
    return OrDash(value.get<std::string>());
  }
  if (value.is_object()) {  // a reason
    const auto kind = value.find("kind");
    return kind == value.end() ? value.dump() : TextOf(*kind);
  }
  if (!value.is_array()) {
    return value.dump();
  }
  std::string text;
  for (const Json& item : value) {
    absl::StrAppend(&text, text.empty() ? "" : ",", TextOf(item));
  }
  return OrDash(text);
}

absl::StatusOr<std::string> ReadName(const char* option, std::string name) {
  name = absl::AsciiStrToLower(name);
  bool known = false;
  std::string names;
  const JobView any;
  ForEachField(any, [&](const char* field, const auto&) {
    known = known || name == field;
    absl::StrAppend(&names, names.empty() ? "" : ", ", field);
  });
  return known ? absl::StatusOr<std::string>(name)
               : absl::InvalidArgumentError(absl::StrCat("--", option, ": ", Quote(name),
                                                         " is no field of a job: use ", names));
}

}  // namespace

std::vector<Option> JobColumnOptions() {
  return {{.name = "format",
           .letter = 'o',
           .metavar = "FIELDS",
           .text = "These columns, by the names of --json: id,name,state,partition,nodes"},
          {.name = "sort",
           .letter = 0,
           .metavar = "FIELDS",
           .text = "In this order: user,-priority (- for backwards), by the names of --json"}};
}

absl::StatusOr<JobColumns> ReadJobColumns(const Invocation& invocation) {
  JobColumns columns;
  if (invocation.Has("format")) {
    for (const auto piece : absl::StrSplit(invocation.Value("format"), ',')) {
      ASSIGN_OR_RETURN(std::string name, ReadName("format", std::string(piece)));
      columns.names.push_back(std::move(name));
    }
  }
  if (invocation.Has("sort")) {
    for (const auto piece : absl::StrSplit(invocation.Value("sort"), ',')) {
      const bool backwards = !piece.empty() && piece.front() == '-';
      ASSIGN_OR_RETURN(std::string name,
                       ReadName("sort", std::string(piece.substr(backwards ? 1 : 0))));
      columns.sort.emplace_back(std::move(name), backwards);
    }
  }
  return columns;
}

void SortJobs(const JobColumns& columns, std::vector<JobView>& jobs) {
  if (columns.sort.empty()) {
    return;
  }
  struct Sorted {
    std::vector<Json> keys;
    std::size_t at = 0;
  };
  std::vector<Sorted> order(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    order[i].at = i;
    for (const auto& key : columns.sort) {
      order[i].keys.push_back(ValueOf(jobs[i], key.first));
    }
  }
  std::stable_sort(order.begin(), order.end(), [&columns](const Sorted& a, const Sorted& b) {
    for (std::size_t i = 0; i < columns.sort.size(); ++i) {
      if (a.keys[i] != b.keys[i]) {
        return (a.keys[i] < b.keys[i]) != columns.sort[i].second;
      }
    }
    return false;
  });
  std::vector<JobView> sorted;
  sorted.reserve(jobs.size());
  for (const Sorted& one : order) {
    sorted.push_back(std::move(jobs[one.at]));
  }
  jobs = std::move(sorted);
}

std::string PrintJobColumns(const JobColumns& columns, const std::vector<JobView>& jobs,
                            bool header, const Style& style) {
  std::vector<Column> titles;
  for (const std::string& name : columns.names) {
    titles.push_back({.title = absl::AsciiStrToUpper(name)});
  }
  Table table(std::move(titles));
  for (const JobView& job : jobs) {
    std::vector<Cell> cells;
    for (const std::string& name : columns.names) {
      cells.push_back({.text = TextOf(ValueOf(job, name))});
    }
    table.Add(cells);
  }
  return table.Print(style, header);
}

}  // namespace muster::cli
