#pragma once

// What clients ask of jobs: each question once, as its method of proto/controller.proto has it.
//
// `kMethod` is the method, `Reply` the answer (a bare value or list is the first field of the
// method's reply), and Fields() are those of the request; who may ask stands there beside the
// method.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/curve.h"
#include "scheduler/model/view/explanation.h"
#include "scheduler/model/view/view.h"

namespace muster {

struct JobFilter {
  std::vector<std::string> states = {};  // names; empty: all
  std::string user = {};                 // empty: all users'
  std::vector<JobId> jobs = {};          // empty: all
  bool fold = false;  // one view for all untouched elements of an array that wait for the same
};

// Those that are held in memory.
struct ListJobs : JobFilter {
  std::uint32_t limit = 0;  // the first ones by id, that many; 0: all

  static constexpr const char* kMethod = "ListJobs";
  using Reply = std::vector<JobView>;
  static constexpr auto Fields(auto list) {
    return list(Field{"states", &JobFilter::states}, Field{"user", &JobFilter::user},
                Field{"jobs", &JobFilter::jobs}, Field{"fold", &JobFilter::fold},
                Field{"limit", &ListJobs::limit});
  }
};

// Those that have ended.
struct ListHistory : JobFilter {
  Time since = kNoTime;     // ended at or after
  std::uint32_t limit = 0;  // newest first; 0: the controller's default

  static constexpr const char* kMethod = "ListHistory";
  using Reply = std::vector<JobView>;
  static constexpr auto Fields(auto list) {
    return list(Field{"states", &JobFilter::states}, Field{"user", &JobFilter::user},
                Field{"jobs", &JobFilter::jobs}, Field{"since", &ListHistory::since},
                Field{"limit", &ListHistory::limit});
  }
};

// One, or all elements of an array.
struct ShowJob {
  JobSelector job;
  bool with_script = false;  // with the batch script of a job of the caller's own

  static constexpr const char* kMethod = "ShowJob";
  using Reply = std::vector<JobDetail>;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ShowJob::job}, Field{"with_script", &ShowJob::with_script});
  }
};

// An empty text takes a note away.
struct NoteJob {
  JobSelector job;
  std::vector<JobNote> notes;

  static constexpr const char* kMethod = "NoteJob";
  static constexpr bool kNow = true;
  using Reply = Nothing;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &NoteJob::job}, Field{"notes", &NoteJob::notes});
  }
};

struct ExplainJob {
  JobSelector job;

  static constexpr const char* kMethod = "Explain";
  using Reply = JobExplanation;
  static constexpr auto Fields(auto list) { return list(Field{"job", &ExplainJob::job}); }
};

// Where and when a job would start.
struct StartForecast {
  Time start = kNoTime;  // kNoTime: unknown
  std::vector<std::string> nodes;
  std::string reason;  // why not now
  bool never = false;  // not on this cluster as it is
  static constexpr auto Fields(auto list) {
    return list(Field{"start", &StartForecast::start}, Field{"nodes", &StartForecast::nodes},
                Field{"reason", &StartForecast::reason}, Field{"never", &StartForecast::never});
  }
  friend bool operator==(const StartForecast&, const StartForecast&) = default;
};

// A job like this; nothing is submitted.
struct TestSubmit : SubmitJob {
  static constexpr const char* kMethod = "TestSubmit";
  using Reply = StartForecast;
};

// What a job, or each element that is named, used over time.
struct ShowCurve {
  JobSelector job;

  static constexpr const char* kMethod = "ShowCurve";
  using Reply = std::vector<JobCurve>;
  static constexpr auto Fields(auto list) { return list(Field{"job", &ShowCurve::job}); }
};

// A job for which the last plan keeps nodes free.
struct PlannedJob {
  JobId job;
  std::string label;
  std::string name;
  std::string user;
  Time start = kNoTime;  // promised
  Time end = kNoTime;    // by its time limit; kNoTime: it has none
  std::vector<std::string> nodes;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &PlannedJob::job}, Field{"label", &PlannedJob::label},
                Field{"name", &PlannedJob::name}, Field{"user", &PlannedJob::user},
                Field{"start", &PlannedJob::start}, Field{"end", &PlannedJob::end},
                Field{"nodes", &PlannedJob::nodes});
  }
};
struct PlannedStarts {
  Time time = kNoTime;           // of the answer
  std::vector<PlannedJob> jobs;  // in the order of the plan
  static constexpr auto Fields(auto list) {
    return list(Field{"time", &PlannedStarts::time}, Field{"jobs", &PlannedStarts::jobs});
  }
};

struct ShowPlan {
  static constexpr const char* kMethod = "ShowPlan";
  using Reply = PlannedStarts;
  static constexpr auto Fields(auto list) { return list(); }
};

#define MUSTER_JOB_QUESTIONS(X) \
  X(ListJobs)                   \
  X(ListHistory)                \
  X(ShowJob)                    \
  X(NoteJob)                    \
  X(ExplainJob)                 \
  X(TestSubmit)                 \
  X(ShowCurve)                  \
  X(ShowPlan)

}  // namespace muster
