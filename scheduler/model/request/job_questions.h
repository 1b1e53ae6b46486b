#pragma once

// What clients ask of jobs: each question once, as its method of proto/controller.proto has it.
//
// `kMethod` is the method, `Reply` the answer (a bare value or list is the first field of the
// method's reply), and Fields() are those of the request; who may ask stands there beside the
// method.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/change/command.h"
#include "scheduler/model/job/job_selector.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"
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
  bool fold_jobs = false;   // with fold: one view also for many single jobs that wait alike
  JobId after = {};         // those of higher ids: with limit, a list in pieces; not with jobs

  static constexpr const char* kMethod = "ListJobs";
  using Reply = std::vector<JobView>;
  static constexpr auto Fields(auto list) {
    return list(Field{"states", &JobFilter::states}, Field{"user", &JobFilter::user},
                Field{"jobs", &JobFilter::jobs}, Field{"fold", &JobFilter::fold},
                Field{"limit", &ListJobs::limit}, Field{"fold_jobs", &ListJobs::fold_jobs},
                Field{"after", &ListJobs::after});
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

// Those that ran since then, whether they live or have ended, each with its attempts.
struct ListUse : JobFilter {
  Time since = kNoTime;     // ended at or after, or not yet
  std::uint32_t limit = 0;  // of those that have ended, the newest; 0: the controller's default

  static constexpr const char* kMethod = "ListUse";
  using Reply = std::vector<JobView>;
  static constexpr auto Fields(auto list) {
    return list(Field{"states", &JobFilter::states}, Field{"user", &JobFilter::user},
                Field{"jobs", &JobFilter::jobs}, Field{"since", &ListUse::since},
                Field{"limit", &ListUse::limit});
  }
};

// One, or all elements of an array.
struct ShowJob {
  JobSelector job;
  bool with_script = false;  // with the batch script of a job of the caller's own
  // Of each attempt's ranks a page: at most that number after the first `ranks_from`; 0: all.
  std::uint32_t ranks_from = 0;
  std::uint32_t ranks_limit = 0;

  static constexpr const char* kMethod = "ShowJob";
  using Reply = std::vector<JobDetail>;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ShowJob::job}, Field{"with_script", &ShowJob::with_script},
                Field{"ranks_from", &ShowJob::ranks_from},
                Field{"ranks_limit", &ShowJob::ranks_limit});
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

struct Submission {
  JobId first;  // its number; of a heterogeneous job the first component's
  JobSpec spec;
  Program program;
  std::vector<Component> components = {};  // those after the first

  static constexpr auto Fields(auto list) {
    return list(Field{"first", &Submission::first}, Field{"spec", &Submission::spec},
                Field{"program", &Submission::program},
                Field{"components", &Submission::components});
  }
};

// A job like this; nothing is submitted.
struct TestSubmit : SubmitJob {
  static constexpr const char* kMethod = "TestSubmit";
  using Reply = StartForecast;
};

// What a job of the caller's own was submitted with; of an element its array's, of a component the
// first one's. Without environments; a script that was erased is empty.
struct ReadSubmission {
  JobId job;

  static constexpr const char* kMethod = "ReadSubmission";
  using Reply = Submission;
  static constexpr auto Fields(auto list) { return list(Field{"job", &ReadSubmission::job}); }
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

// What a job, or a rank of a step, has printed into its file. Of another job than the caller's it
// is refused, but to operators.
struct OutputPiece {
  std::string data;
  std::uint64_t offset = 0;  // where it begins in the file
  std::uint64_t size = 0;    // of the file
  std::string file;          // which one it is, for the next question
  bool anew = false;         // the file was cut or is another: what was read of it is gone
  Time modified = kNoTime;   // when it was written to last
  std::string path;
  std::string node;    // where it was read
  std::string state;   // of the job, or of the step
  std::string waits;   // it has not started: why; nothing was read then
  bool ended = false;  // before the file was read: nothing more comes after `size`
  Time started = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"data", &OutputPiece::data}, Field{"offset", &OutputPiece::offset},
                Field{"size", &OutputPiece::size}, Field{"file", &OutputPiece::file},
                Field{"anew", &OutputPiece::anew}, Field{"modified", &OutputPiece::modified},
                Field{"path", &OutputPiece::path}, Field{"node", &OutputPiece::node},
                Field{"state", &OutputPiece::state}, Field{"waits", &OutputPiece::waits},
                Field{"ended", &OutputPiece::ended}, Field{"started", &OutputPiece::started});
  }
  friend bool operator==(const OutputPiece&, const OutputPiece&) = default;
};
struct ReadOutput {
  JobId job;
  std::optional<std::uint32_t> array_index = {};
  std::optional<StepId> step = {};         // unset: the script, or the ranks of a job without one
  std::optional<std::uint32_t> rank = {};  // unset: the first
  bool error = false;                      // standard error's file
  std::uint64_t offset = 0;
  std::string file = {};    // as the last answer named it: of another one it begins at 0
  std::uint32_t tail = 0;   // begin with that number of last lines, not at `offset`
  std::uint32_t limit = 0;  // bytes at most; 0: as many as one answer holds

  static constexpr const char* kMethod = "ReadOutput";
  static constexpr bool kNow = true;
  using Reply = OutputPiece;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ReadOutput::job}, Field{"array_index", &ReadOutput::array_index},
                Field{"step", &ReadOutput::step}, Field{"rank", &ReadOutput::rank},
                Field{"error", &ReadOutput::error}, Field{"offset", &ReadOutput::offset},
                Field{"file", &ReadOutput::file}, Field{"tail", &ReadOutput::tail},
                Field{"limit", &ReadOutput::limit});
  }
};

// What the processes of one rank, or of the batch script, do just now.
struct RankUse {
  std::string node;
  StepId step;  // 0: the batch script
  std::uint32_t rank = 0;
  std::uint32_t pid = 0;  // of the first of them
  std::string command;    // its name
  std::string state;      // its state, as the kernel's letter has it
  std::uint32_t processes = 0;
  std::uint32_t threads = 0;
  std::string cpus;                             // on which its first process may run
  Duration cpu_time{0};                         // so far, of those that live
  Bytes memory;                                 // resident
  Time time = kNoTime;                          // when it was read
  std::vector<std::string> gpus;                // its own, by UUID
  std::int32_t gpu_busy = -1;                   // percent, of the busiest of them; -1: not metered
  Bytes gpu_memory;                             // in use on all of them, by whomever
  std::optional<std::uint32_t> gpu_clock = {};  // MHz, of the slowest of them; nothing: not metered
  std::string slower = {};  // why it is slower than its peers; empty: not, or it cannot be told
  std::optional<Bytes> read_bytes = {};  // from storage so far; as what follows nothing: not known
  std::optional<Bytes> written_bytes = {};
  std::optional<Bytes> sent = {};  // to other machines by TCP, by the connections that it has open
  std::optional<Bytes> received = {};
  std::optional<GpuRates> gpu_work = {};  // of its GPUs, of late; nothing: they have no counters
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &RankUse::node}, Field{"step", &RankUse::step},
                Field{"rank", &RankUse::rank}, Field{"pid", &RankUse::pid},
                Field{"command", &RankUse::command}, Field{"state", &RankUse::state},
                Field{"processes", &RankUse::processes}, Field{"threads", &RankUse::threads},
                Field{"cpus", &RankUse::cpus}, Field{"cpu_time", &RankUse::cpu_time},
                Field{"memory", &RankUse::memory}, Field{"time", &RankUse::time},
                Field{"gpus", &RankUse::gpus}, Field{"gpu_busy", &RankUse::gpu_busy},
                Field{"gpu_memory", &RankUse::gpu_memory}, Field{"gpu_clock", &RankUse::gpu_clock},
                Field{"slower", &RankUse::slower}, Field{"read_bytes", &RankUse::read_bytes},
                Field{"written_bytes", &RankUse::written_bytes}, Field{"sent", &RankUse::sent},
                Field{"received", &RankUse::received}, Field{"gpu_work", &RankUse::gpu_work});
  }
  friend bool operator==(const RankUse&, const RankUse&) = default;
};
struct RankTable {
  std::vector<RankUse> ranks;       // by node, step and rank
  std::vector<std::string> silent;  // nodes that did not answer
  static constexpr auto Fields(auto list) {
    return list(Field{"ranks", &RankTable::ranks}, Field{"silent", &RankTable::silent});
  }
};
struct ListRanks {
  JobId job;
  std::optional<std::uint32_t> array_index = {};

  static constexpr const char* kMethod = "ListRanks";
  static constexpr bool kNow = true;
  using Reply = RankTable;
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &ListRanks::job}, Field{"array_index", &ListRanks::array_index});
  }
};

#define MUSTER_JOB_QUESTIONS(X) \
  X(ListJobs)                   \
  X(ListHistory)                \
  X(ListUse)                    \
  X(ShowJob)                    \
  X(NoteJob)                    \
  X(ExplainJob)                 \
  X(TestSubmit)                 \
  X(ReadSubmission)             \
  X(ShowCurve)                  \
  X(ShowPlan)                   \
  X(ReadOutput)                 \
  X(ListRanks)

}  // namespace muster
