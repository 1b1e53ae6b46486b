#include "cli/slurm/live/priority_page.h"

#include <algorithm>
#include <array>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/words.h"

namespace muster::cli::slurm {
namespace {

constexpr double kPriorityMax = 4294967295.0;

// A line: a job in one of its partitions.
struct PriorityLine {
  const RankedJob* job;
  std::string partition;
};

// A column: what it shows, and the factor that it is about.
struct PriorityField {
  char letter;
  const char* title;
  enum class Shows { kId, kUser, kPartition, kCluster, kTotal, kPoints, kNorm, kNice, kTres } shows;
  const char* factor;  // of kTotal: "norm" where it is a share of the largest
};
using Shows = PriorityField::Shows;

constexpr std::array kPriorityFields = {
    PriorityField{'a', "AGE", Shows::kNorm, "age"},
    PriorityField{'A', "AGE", Shows::kPoints, "age"},
    PriorityField{'b', "ASSOC", Shows::kNorm, "assoc"},
    PriorityField{'B', "ASSOC", Shows::kPoints, "assoc"},
    PriorityField{'c', "CLUSTER", Shows::kCluster, ""},
    PriorityField{'f', "FAIRSHARE", Shows::kNorm, "fairshare"},
    PriorityField{'F', "FAIRSHARE", Shows::kPoints, "fairshare"},
    PriorityField{'i', "JOBID", Shows::kId, ""},
    PriorityField{'j', "JOBSIZE", Shows::kNorm, "jobsize"},
    PriorityField{'J', "JOBSIZE", Shows::kPoints, "jobsize"},
    PriorityField{'N', "NICE", Shows::kNice, ""},
    PriorityField{'p', "PARTITION", Shows::kNorm, "partition"},
    PriorityField{'P', "PARTITION", Shows::kPoints, "partition"},
    PriorityField{'q', "QOS", Shows::kNorm, "qos"},
    PriorityField{'Q', "QOS", Shows::kPoints, "qos"},
    PriorityField{'r', "PARTITION", Shows::kPartition, ""},
    PriorityField{'S', "SITE", Shows::kPoints, "site"},
    PriorityField{'T', "TRES", Shows::kTres, ""},
    PriorityField{'u', "USER", Shows::kUser, ""},
    PriorityField{'y', "PRIORITY", Shows::kTotal, "norm"},
    PriorityField{'Y', "PRIORITY", Shows::kTotal, ""},
};

const PriorityField* FindField(char letter) {
  const auto* const found =
      std::find_if(kPriorityFields.begin(), kPriorityFields.end(),
                   [letter](const PriorityField& field) { return field.letter == letter; });
  return found == kPriorityFields.end() ? nullptr : found;
}

const PriorityTerm* TermOf(const muster::Priority& priority, const std::string& name) {
  const auto found = std::find_if(priority.terms.begin(), priority.terms.end(),
                                  [&name](const PriorityTerm& term) { return term.name == name; });
  return found == priority.terms.end() ? nullptr : &*found;
}

// "cpu=100,mem=20": the points, or the weights, of what is asked for.
std::string TresTerms(const muster::Priority& priority, bool weights) {
  std::vector<std::string> parts;
  for (const PriorityTerm& term : priority.terms) {
    if (absl::StartsWith(term.name, "tres/")) {
      parts.push_back(absl::StrCat(term.name.substr(5), "=",
                                   weights ? static_cast<std::int64_t>(term.weight) : term.points));
    }
  }
  return absl::StrJoin(parts, ",");
}

double NormOf(const PriorityTerm* term) {
  return term == nullptr ? 0.0
                         : static_cast<double>(term->factor.value()) /
                               static_cast<double>(kWholeFactor.value());
}

std::string ValueOf(const PriorityField& field, const PriorityLine& line,
                    const SprioRequest& request) {
  const RankedJob& job = *line.job;
  const PriorityTerm* const term = TermOf(job.priority, field.factor);
  switch (field.shows) {
    case Shows::kId:
      return JobLabel(job.job, {});
    case Shows::kUser:
      return job.job.user;
    case Shows::kPartition:
      return line.partition;
    case Shows::kCluster:
      return request.cluster;
    case Shows::kTotal:
      return *field.factor == '\0'
                 ? absl::StrCat(job.priority.total)
                 : absl::StrFormat("%.14f", static_cast<double>(job.priority.total) / kPriorityMax);
    case Shows::kPoints:
      return absl::StrCat(term == nullptr ? 0 : term->points);
    case Shows::kNorm:
      return absl::StrFormat("%.7f", NormOf(term));
    case Shows::kNice:
      return absl::StrCat(job.job.nice);
    case Shows::kTres:
      return TresTerms(job.priority, false);
  }
  return "";
}

std::string WeightOf(const PriorityField& field, const muster::Priority& priority) {
  const PriorityTerm* const term = TermOf(priority, field.factor);
  const std::string tres = TresTerms(priority, true);
  switch (field.shows) {
    case Shows::kId:
      return "Weights";
    case Shows::kPoints:
    case Shows::kNorm:
      return std::string_view(field.factor) == "site"
                 ? "1"
                 : absl::StrCat(term == nullptr ? 0U : term->weight);
    case Shows::kTres:
      return tres.empty() ? "(null)" : tres;
    default:
      return "";
  }
}

// What the line is sorted by.
double SortValue(const PriorityField& field, const PriorityLine& line) {
  const muster::Priority& priority = line.job->priority;
  switch (field.shows) {
    case Shows::kTotal:
      return static_cast<double>(priority.total);
    case Shows::kPoints:
    case Shows::kNorm: {
      const PriorityTerm* const term = TermOf(priority, field.factor);
      return term == nullptr ? 0.0 : static_cast<double>(term->points);
    }
    case Shows::kNice:
      return static_cast<double>(line.job->job.nice);
    default:
      return static_cast<double>(line.job->job.id.value());
  }
}

bool IsTextField(const PriorityField& field) {
  return field.shows == Shows::kUser || field.shows == Shows::kPartition;
}

void Sort(const SprioRequest& request, std::vector<PriorityLine>& lines) {
  for (auto key = request.sort.rbegin(); key != request.sort.rend(); ++key) {
    const PriorityField* const field = key->empty() ? nullptr : FindField(key->back());
    if (field == nullptr) {
      continue;
    }
    const bool down = key->front() == '-';
    std::stable_sort(
        lines.begin(), lines.end(), [&](const PriorityLine& first, const PriorityLine& second) {
          const PriorityLine& a = down ? second : first;
          const PriorityLine& b = down ? first : second;
          return IsTextField(*field) ? ValueOf(*field, a, request) < ValueOf(*field, b, request)
                                     : SortValue(*field, a) < SortValue(*field, b);
        });
  }
}

template <class Text>
std::string Line(const SprioRequest& request, const Text& text) {
  std::string line = request.format.prefix;
  for (const PercentField& column : request.format.fields) {
    line += InSlot(Harmless(text(*FindField(column.letter)), column.slot.suffix), column.slot);
  }
  return line + "\n";
}

}  // namespace

absl::StatusOr<PercentFormat> ReadPriorityFormat(std::string_view text) {
  PercentFormat format = ParsePercentFormat(text);
  for (const PercentField& field : format.fields) {
    if (FindField(field.letter) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("Invalid job format specification: ", std::string(1, field.letter)));
    }
  }
  return format;
}

std::string PriorityPage(const SprioRequest& request, std::vector<RankedJob> jobs) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const RankedJob& a, const RankedJob& b) { return a.job.id < b.job.id; });
  std::string page;
  if (request.header) {
    page += Line(request, [](const PriorityField& field) { return std::string(field.title); });
  }
  if (request.weights) {
    const muster::Priority none;
    const muster::Priority& priority = jobs.empty() ? none : jobs.front().priority;
    return page +
           Line(request, [&](const PriorityField& field) { return WeightOf(field, priority); });
  }
  std::vector<PriorityLine> lines;
  for (const RankedJob& job : jobs) {
    std::vector<std::string> partitions = SplitCommas(job.job.partition);
    if (partitions.empty()) {
      partitions.emplace_back();
    }
    for (std::string& partition : partitions) {
      lines.push_back({&job, std::move(partition)});
    }
  }
  Sort(request, lines);
  for (const PriorityLine& line : lines) {
    page +=
        Line(request, [&](const PriorityField& field) { return ValueOf(field, line, request); });
  }
  return page;
}

}  // namespace muster::cli::slurm
