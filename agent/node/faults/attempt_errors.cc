#include "agent/node/faults/attempt_errors.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/journal.h"
#include "scheduler/model/job/report.h"

namespace muster::agent {
namespace {

struct RankThen {
  StepId step;
  std::uint32_t rank = 0;
  std::vector<std::string> gpus;
};

// What the journal says of the attempt's times; kNoTime: it goes on.
struct Course {
  Time started = kNoTime;
  Time ended = kNoTime;
  std::map<StepId, Time> begun;
  std::map<StepId, Time> over;
  std::vector<RankThen> ranks;
};

Course CourseOf(const std::string& journal) {
  Course course;
  const absl::StatusOr<std::vector<Report>> reports = AttemptJournalReader(journal).ReadNew();
  if (!reports.ok()) {
    return course;
  }
  for (const Report& report : *reports) {
    if (const auto* const started = std::get_if<RunStarted>(&report.fact)) {
      course.started = started->time;
    } else if (const auto* const read = std::get_if<BindingRead>(&report.fact)) {
      for (const RankBinding& rank : read->ranks) {
        course.begun.emplace(rank.step, read->time);
        course.ranks.push_back({rank.step, rank.rank, rank.gpus});
      }
    } else if (const auto* const step = std::get_if<StepEnded>(&report.fact)) {
      course.over[step->step] = step->time;
    } else if (const auto* const ended = std::get_if<RunEnded>(&report.fact)) {
      course.ended = ended->time;
    }
  }
  return course;
}

bool MayHaveMet(const Course& course, const RankThen& rank, const GpuError& error) {
  const auto begun = course.begun.find(rank.step);
  const auto over = course.over.find(rank.step);
  return std::count(rank.gpus.begin(), rank.gpus.end(), error.uuid) != 0 &&
         (begun == course.begun.end() || begun->second <= error.seen) &&
         (over == course.over.end() || over->second >= error.after);
}

}  // namespace

std::vector<std::string> ErrorsMet(const std::string& journal, const std::string& node,
                                   const std::deque<GpuError>& errors) {
  std::vector<std::string> texts;
  const auto told = [&texts](const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) != texts.end();
  };
  const Course course = errors.empty() ? Course() : CourseOf(journal);
  for (const GpuError& error : errors) {
    if (course.started == kNoTime || error.seen < course.started ||
        (course.ended != kNoTime && error.after > course.ended)) {
      continue;
    }
    bool of_step = false;
    for (const bool steps : {true, false}) {
      for (const RankThen& rank : course.ranks) {
        if (rank.step.valid() != steps || (of_step && !steps) || !MayHaveMet(course, rank, error)) {
          continue;
        }
        of_step = of_step || steps;
        std::string text = absl::StrCat(steps ? absl::StrCat("rank ", rank.rank) : "the script",
                                        " on ", node, " met ", error.text, " on GPU ", error.uuid);
        if (texts.size() < kTextsMost && !told(text)) {
          texts.push_back(std::move(text));
        }
      }
    }
  }
  return texts;
}

}  // namespace muster::agent
