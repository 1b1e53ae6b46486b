#include "cli/slurm/queue/step_page.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/format/batch_word.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/job_words.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr const char* kUsualSteps = "%.15i %.8j %.9P %.8u %.9M %N";

// A step, or the script of a job.
struct StepLine {
  const JobView* job = nullptr;
  std::string id;
  std::string name;
  std::vector<std::string> nodes;
  Time start = kNoTime;
  std::uint32_t cpus = 0;
};

struct StepField {
  char letter;
  const char* title;
  std::string (*value)(const StepLine& step, const JobScene& scene);
};

constexpr StepField kStepFields[] = {
    {'A', "JOBID",
     [](const StepLine& step, const JobScene&) { return absl::StrCat(step.job->id.value()); }},
    {'C', "CPUS", [](const StepLine& step, const JobScene&) { return absl::StrCat(step.cpus); }},
    {'i', "STEPID", [](const StepLine& step, const JobScene&) { return step.id; }},
    {'j', "NAME", [](const StepLine& step, const JobScene&) { return step.name; }},
    {'l', "TIME_LIMIT",
     [](const StepLine& step, const JobScene&) { return ShortLimit(step.job->time_limit); }},
    {'M', "TIME",
     [](const StepLine& step, const JobScene& scene) {
       return ElapsedText(step.start == kNoTime ? Duration(0) : scene.now - step.start);
     }},
    {'N', "NODELIST",
     [](const StepLine& step, const JobScene&) { return CompressHostlist(step.nodes); }},
    {'P', "PARTITION", [](const StepLine& step, const JobScene&) { return step.job->partition; }},
    {'S', "START_TIME",
     [](const StepLine& step, const JobScene& scene) {
       return scene.clock.Text(step.start, "N/A");
     }},
    {'u', "USER", [](const StepLine& step, const JobScene&) { return step.job->user; }},
    {'U', "USER",
     [](const StepLine& step, const JobScene&) { return absl::StrCat(step.job->uid); }},
};

const StepField* FindStepField(char letter) {
  const auto* found = std::find_if(std::begin(kStepFields), std::end(kStepFields),
                                   [letter](const StepField& f) { return f.letter == letter; });
  return found == std::end(kStepFields) ? nullptr : found;
}

std::vector<StepLine> RunningSteps(const JobDetail& detail) {
  const JobView& job = detail.job;
  const std::string label = JobLabel(job, {});
  std::vector<StepLine> steps;
  if (HasStarted(job) && HasScript(detail)) {
    steps.push_back({&job,
                     absl::StrCat(label, ".batch"),
                     "batch",
                     {job.nodes.begin(), job.nodes.begin() + (job.nodes.empty() ? 0 : 1)},
                     job.start_time,
                     job.cpus});
  }
  for (const StepView& step : detail.steps) {
    if (IsRunning(step.state)) {
      steps.push_back({&job, absl::StrCat(label, ".", step.step.value()), step.name,
                       absl::StrSplit(step.nodes, ',', absl::SkipEmpty()), step.start_time,
                       step.cpus});
    }
  }
  return steps;
}

}  // namespace

absl::StatusOr<PercentFormat> ReadStepFormat(const std::string& text) {
  PercentFormat format = ParsePercentFormat(text.empty() ? kUsualSteps : text);
  for (const PercentField& field : format.fields) {
    if (FindStepField(field.letter) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "error: Invalid job step format specification: ", std::string(1, field.letter)));
    }
  }
  return format;
}

std::string StepTitles(const PercentFormat& format) {
  std::string line = format.prefix;
  for (const PercentField& field : format.fields) {
    line += InSlot(FindStepField(field.letter)->title, field.slot);
  }
  return line + "\n";
}

std::string StepLines(const PercentFormat& format, const JobDetail& detail,
                      const std::vector<std::string>& wanted, const JobScene& scene) {
  std::string page;
  for (const StepLine& step : RunningSteps(detail)) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), step.id) == wanted.end()) {
      continue;
    }
    page += format.prefix;
    for (const PercentField& field : format.fields) {
      const std::string value = FindStepField(field.letter)->value(step, scene);
      page += InSlot(Harmless(value, field.slot.suffix), field.slot);
    }
    page += "\n";
  }
  return page;
}

}  // namespace muster::cli::slurm
