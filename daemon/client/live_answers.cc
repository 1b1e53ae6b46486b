// The questions about jobs that their nodes answer (client_methods.h): what they print, and what
// their processes do.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/job_list.h"
#include "daemon/client/views/output_place.h"
#include "daemon/controller/views.h"
#include "proto/convert/job.h"
#include "scheduler/base/status.h"
#include "scheduler/core/state/job_group.h"
#include "scheduler/model/machine/gpu_work.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {
namespace {

// A job whose output is wanted, as far as it is known without its program.
struct OutputJob {
  JobDetail detail;    // with the attempt that has begun last, if one has
  std::string waits;   // it has not started: why
  std::string state;   // of the job, or of the step that is meant
  bool ended = false;  // the same
  bool found = false;
};

bool NamesArray(JobId asked, const std::optional<std::uint32_t>& index, JobId array,
                const std::string& element) {
  return !index.has_value() && asked == array && !element.empty();
}

absl::Status NameElement(JobId array) {
  return absl::FailedPreconditionError(absl::StrCat(
      "job ", array.value(), ": is an array; name an element, like ", array.value(), "_0"));
}

// The one live job that is meant; null: there is none.
absl::StatusOr<const Job*> FindLive(const core::ClusterState& state, JobId id,
                                    const std::optional<std::uint32_t>& index) {
  const std::vector<const Job*> jobs = state.FindJobs(id, index);
  if (jobs.empty()) {
    return static_cast<const Job*>(nullptr);
  }
  const Job& job = *jobs.front();
  const std::string element = job.array_index.has_value() ? absl::StrCat(*job.array_index) : "";
  if (jobs.size() > 1 || NamesArray(id, index, job.submission, element)) {
    return NameElement(id);
  }
  return &job;
}

// What a live job's step does.
void TellStep(const Job& job, StepId step, OutputJob& output) {
  const auto is_it = [step](const auto& each) { return each.id == step; };
  const Attempt& attempt = *job.attempt;
  if (std::any_of(attempt.queued_steps.begin(), attempt.queued_steps.end(), is_it)) {
    output.waits = absl::StrCat("step ", output.detail.job.label, ".", step.value(),
                                ": waits for other steps of its job");
  }
  output.ended =
      std::none_of(attempt.steps.begin(), attempt.steps.end(), is_it) && step <= attempt.last_step;
  output.state = output.ended ? "ENDED" : output.waits.empty() ? "RUNNING" : "PENDING";
}

OutputJob LookAt(const StateView& view, const Job& job, const ReadOutput& asked) {
  OutputJob output;
  output.found = true;
  output.detail.job = ViewIn(view, job);
  output.state = output.detail.job.state;
  AddAsked(*job.spec, output.detail);
  const std::string what = absl::StrCat("job ", output.detail.job.label);
  if (!job.attempt.has_value()) {
    output.waits = absl::StrCat(what, ": is ", output.state, ": ", output.detail.job.reason.text);
    return output;
  }
  output.detail.attempts.push_back(daemon::ViewOf(view.state(), job, kNoTime));
  if (job.attempt->runs.front().phase == RunPhase::kOrdered) {
    output.waits = absl::StrCat(what, ": is starting on ", output.detail.attempts[0].nodes[0]);
  } else if (IsOfStep(asked, output.detail)) {
    TellStep(job, *asked.step, output);
  }
  return output;
}

// Answers one question about output, in three rounds: the state, the store, the node.
class OutputAnswer : public std::enable_shared_from_this<OutputAnswer> {
 public:
  OutputAnswer(const Backend& backend, const Call<ReadOutput>& call, ReadOutput asked)
      : backend_(backend), call_(call), asked_(std::move(asked)) {}

  void Begin() {
    backend_.controller.Look([self = shared_from_this()](const StateView& view) {
      const absl::StatusOr<const Job*> job =
          FindLive(view.state(), self->asked_.job, self->asked_.array_index);
      if (job.ok() && *job != nullptr) {
        self->job_ = LookAt(view, **job, self->asked_);
      }
      return Controller::Reply([self, status = job.status()](const absl::Status&) {
        if (!status.ok()) {
          self->call_.Refuse(status);
          return;
        }
        self->call_.Aside(self->backend_.reader, [self] { self->Read(); });
      });
    });
  }

 private:
  // Of the accounting: a job that has ended, or one that waits to run again.
  absl::Status Complete() {
    if (!job_.found) {
      const std::vector<std::uint32_t> elements =
          asked_.array_index.has_value() ? std::vector<std::uint32_t>{*asked_.array_index}
                                         : std::vector<std::uint32_t>();
      ASSIGN_OR_RETURN(std::vector<JobDetail> ended,
                       backend_.accounting.Show(asked_.job, elements));
      if (ended.empty()) {
        return absl::NotFoundError(
            absl::StrCat("job ", core::Label(asked_.job, asked_.array_index),
                         ": no such job; see muster queue and muster history"));
      }
      const JobView& first = ended.front().job;
      if (ended.size() > 1 ||
          NamesArray(asked_.job, asked_.array_index, first.array_job_id, first.array_task_id)) {
        return NameElement(asked_.job);
      }
      job_.detail = std::move(ended.front());
      job_.state = job_.detail.job.state;
      job_.ended = true;
      return absl::OkStatus();
    }
    if (job_.detail.attempts.empty()) {
      ASSIGN_OR_RETURN(job_.detail.attempts, backend_.accounting.Attempts(job_.detail.job.id));
      std::erase_if(job_.detail.attempts,
                    [](const AttemptView& attempt) { return attempt.nodes.empty(); });
      job_.waits = job_.detail.attempts.empty() ? job_.waits : "";
    }
    return absl::OkStatus();
  }

  absl::StatusOr<OutputPlace> Place() {
    const JobDetail& detail = job_.detail;
    if (detail.attempts.empty() || detail.attempts.back().nodes.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("job ", detail.job.label, ": ended as ", job_.state, " and never started"));
    }
    ASSIGN_OR_RETURN(const Program program,
                     backend_.store.ReadProgram(detail.job.het_size > 0 ? detail.job.id
                                                                        : detail.job.array_job_id));
    if (!IsOfStep(asked_, detail)) {
      return FindOutput(asked_, detail, program, nullptr);
    }
    const absl::StatusOr<StepStarted> step =
        backend_.store.ReadStep(detail.job.id, detail.attempts.back().number, *asked_.step);
    if (absl::IsNotFound(step.status())) {
      return absl::NotFoundError(absl::StrCat(
          "step ", detail.job.label, ".", asked_.step->value(), ": no such step, or the ",
          "journal no longer tells of it; see muster show ", detail.job.label));
    }
    RETURN_IF_ERROR(step.status());
    return FindOutput(asked_, detail, program, &*step);
  }

  // On the reader's thread.
  void Read() {
    const absl::Status complete = Complete();
    const JobView& view = job_.detail.job;
    if (!complete.ok() || !MaySee(call_.caller, view.user)) {
      call_.Refuse(complete.ok() ? NotTheirs(call_.caller, view.label, view.user) : complete);
      return;
    }
    piece_.state = job_.state;
    piece_.ended = job_.ended;
    piece_.waits = job_.waits;
    if (!piece_.waits.empty()) {
      call_.Finish(absl::OkStatus(), piece_);
      return;
    }
    absl::StatusOr<OutputPlace> place = Place();
    if (!place.ok()) {
      call_.Refuse(place.status());
      return;
    }
    piece_.path = place->path;
    piece_.node = place->node;
    piece_.started = job_.detail.attempts.back().start_time;
    backend_.controller.Look([self = shared_from_this()](const StateView& state) {
      const Node* const node = state.state().FindNode(self->piece_.node);
      return Controller::Reply([self, id = node == nullptr ? NodeId() : node->id](
                                   const absl::Status&) { self->Ask(id); });
    });
  }

  void Ask(NodeId node) {
    if (!node.valid()) {
      call_.Refuse(absl::NotFoundError(absl::StrCat("node ", piece_.node, ": is gone, and with it ",
                                                    piece_.path, ", unless others see it")));
      return;
    }
    NodeQuestions::Question question{node, piece_.node, call_.caller.user.uid, {}};
    wire::OutputQuestion& body = *question.body.mutable_output();
    const JobView& view = job_.detail.job;
    body.set_job(view.id.value());
    body.set_attempt(job_.detail.attempts.back().number.value());
    TellUser(User{view.uid, view.gid, view.user}, body.mutable_user());
    body.set_path(piece_.path);
    body.set_offset(asked_.offset);
    body.set_file(asked_.file);
    body.set_tail(asked_.tail);
    body.set_limit(asked_.limit);
    AskNode(backend_, std::move(question),
            [self = shared_from_this()](absl::StatusOr<wire::NodeQuestionReply> answer) {
              self->Take(std::move(answer));
            });
  }

  void Take(absl::StatusOr<wire::NodeQuestionReply> answer) {
    if (absl::IsNotFound(answer.status()) && !job_.ended) {
      piece_.waits = std::string(answer.status().message());  // it may be written yet
      call_.Finish(absl::OkStatus(), piece_);
      return;
    }
    if (!answer.ok()) {
      call_.Refuse(answer.status());
      return;
    }
    wire::OutputAnswer& output = *answer->mutable_output();
    piece_.data = std::move(*output.mutable_data());
    piece_.offset = output.offset();
    piece_.size = output.size();
    piece_.file = output.file();
    piece_.anew = output.anew();
    piece_.modified = Time(Duration(output.modified()));
    call_.Finish(absl::OkStatus(), piece_);
  }

  const Backend backend_;
  const Call<ReadOutput> call_;
  const ReadOutput asked_;
  OutputJob job_;
  OutputPiece piece_;
};

void AnswerReadOutput(const Backend& backend, const Call<ReadOutput>& call, ReadOutput asked) {
  std::make_shared<OutputAnswer>(backend, call, std::move(asked))->Begin();
}

// A job's nodes, which GPUs each of its ranks has, and which ranks are slower than their peers.
struct RankPlan {
  JobId job;
  User user;
  AttemptNumber attempt;
  std::vector<std::pair<NodeId, std::string>> nodes;
  std::vector<RankView> ranks;
  std::optional<StragglersView> stragglers;
};

// Gathers what the nodes of a job say of its processes.
class RankAnswers {
 public:
  RankAnswers(const Call<ListRanks>& call, RankPlan plan)
      : call_(call), plan_(std::move(plan)), open_(plan_.nodes.size()) {}

  [[nodiscard]] const RankPlan& plan() const { return plan_; }

  void Take(const std::string& node, const absl::StatusOr<wire::NodeQuestionReply>& answer) {
    bool last = false;
    {
      const MutexLock lock(&mutex_);
      if (answer.ok()) {
        Add(node, answer->processes());
      } else {
        table_.silent.push_back(std::string(answer.status().message()));
      }
      last = --open_ == 0;
    }
    if (last) {
      Finish();
    }
  }

 private:
  void Add(const std::string& node, const wire::ProcessAnswer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::map<std::string, const wire::GpuUse*> gpus;
    for (const wire::GpuUse& gpu : answer.gpus()) {
      gpus.emplace(gpu.uuid(), &gpu);
    }
    for (const wire::RankProcesses& each : answer.ranks()) {
      RankUse use;
      use.node = node;
      use.step = StepId(each.step());
      use.rank = each.rank();
      use.pid = each.pid();
      use.command = each.command();
      use.state = each.state();
      use.processes = each.processes();
      use.threads = each.threads();
      use.cpus = each.cpus();
      use.cpu_time = Duration(each.cpu_time());
      use.memory = Bytes(each.memory());
      use.time = Time(Duration(answer.time()));
      TakeMoved(each, use);
      for (const RankView& rank : plan_.ranks) {
        if (rank.node == node && rank.step == use.step && rank.rank == use.rank) {
          use.gpus = rank.gpus;
        }
      }
      AddGpus(gpus, use);
      use.slower = SlowerText(use);
      table_.ranks.push_back(std::move(use));
    }
  }

  static void AddGpus(const std::map<std::string, const wire::GpuUse*>& gpus, RankUse& use) {
    GpuWork all;
    for (const std::string& uuid : use.gpus) {
      const auto gpu = gpus.find(uuid);
      if (gpu == gpus.end()) {
        continue;
      }
      use.gpu_busy = std::max(use.gpu_busy, gpu->second->busy());
      use.gpu_memory += Bytes(gpu->second->memory());
      if (gpu->second->has_clock()) {
        use.gpu_clock = std::min(use.gpu_clock.value_or(~0U), gpu->second->clock());
      }
      if (GpuWork work; gpu->second->has_work() && FromWire(gpu->second->work(), &work).ok()) {
        all.Add(work);
      }
    }
    use.gpu_work = RatesOf(all);
  }

  static void TakeMoved(const wire::RankProcesses& each, RankUse& use) {
    const auto told = [](bool has, std::uint64_t bytes) {
      return has ? std::optional(Bytes(bytes)) : std::nullopt;
    };
    use.read_bytes = told(each.has_read_bytes(), each.read_bytes());
    use.written_bytes = told(each.has_written_bytes(), each.written_bytes());
    use.sent = told(each.has_sent(), each.sent());
    use.received = told(each.has_received(), each.received());
  }

  [[nodiscard]] std::string SlowerText(const RankUse& use) const {
    if (plan_.stragglers.has_value()) {
      for (const StragglerView& slow : plan_.stragglers->found) {
        if (slow.step == use.step && slow.rank == use.rank && slow.node == use.node) {
          return slow.text;
        }
      }
    }
    return "";
  }

  void Finish() {
    const MutexLock lock(&mutex_);
    std::sort(table_.ranks.begin(), table_.ranks.end(), [](const RankUse& a, const RankUse& b) {
      return std::tie(a.node, a.step, a.rank) < std::tie(b.node, b.step, b.rank);
    });
    std::sort(table_.silent.begin(), table_.silent.end());
    call_.Finish(absl::OkStatus(), table_);
  }

  const Call<ListRanks> call_;
  const RankPlan plan_;
  Mutex mutex_;
  std::size_t open_ ABSL_GUARDED_BY(mutex_);
  RankTable table_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<RankPlan> PlanOf(const StateView& view, const LiveUsage& usage, const Caller& caller,
                                const ListRanks& asked) {
  ASSIGN_OR_RETURN(const Job* const job, FindLive(view.state(), asked.job, asked.array_index));
  if (job == nullptr) {
    return core::NoSuchJob(asked.job, asked.array_index);
  }
  if (!MaySee(caller, job->spec->user.name)) {
    return NotTheirs(caller, ViewIn(view, *job).label, job->spec->user.name);
  }
  if (!job->attempt.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat("job ", ToString(job->id), ": is ",
                                                      Name(job->state), "; it has no processes"));
  }
  RankPlan plan;
  plan.job = job->id;
  plan.user = job->spec->user;
  plan.attempt = job->attempt->number;
  for (std::size_t i = 0; i < job->attempt->runs.size(); ++i) {
    const NodeAllocation& part = job->attempt->allocation.nodes[i];
    if (job->attempt->runs[i].phase != RunPhase::kEnded) {
      plan.nodes.emplace_back(part.node, part.name);
    }
  }
  plan.ranks = daemon::ViewOf(view.state(), *job, kNoTime).ranks;
  plan.stragglers = usage.StragglersOf(*job);
  return plan;
}

void AskRanks(const Backend& backend, const Call<ListRanks>& call, RankPlan plan) {
  const auto answers = std::make_shared<RankAnswers>(call, std::move(plan));
  for (const auto& [node, name] : answers->plan().nodes) {
    NodeQuestions::Question question{node, name, call.caller.user.uid, {}};
    wire::ProcessQuestion& body = *question.body.mutable_processes();
    body.set_job(answers->plan().job.value());
    body.set_attempt(answers->plan().attempt.value());
    TellUser(answers->plan().user, body.mutable_user());
    AskNode(backend, std::move(question),
            [answers, node = name](const absl::StatusOr<wire::NodeQuestionReply>& answer) {
              answers->Take(node, answer);
            });
  }
}

void AnswerListRanks(const Backend& backend, const Call<ListRanks>& call, const ListRanks& asked) {
  backend.controller.Look([backend, call, asked](const StateView& view) -> Controller::Reply {
    const auto plan =
        std::make_shared<absl::StatusOr<RankPlan>>(PlanOf(view, backend.usage, call.caller, asked));
    return [backend, call, plan](const absl::Status&) {
      if (plan->ok() && !(*plan)->nodes.empty()) {
        AskRanks(backend, call, *std::move(*plan));
      } else if (plan->ok()) {
        call.Finish(absl::OkStatus());
      } else {
        call.Refuse(plan->status());
      }
    };
  });
}

}  // namespace

void AskNode(const Backend& backend, NodeQuestions::Question question,
             const NodeQuestions::Answered& answered) {
  if (backend.questions == nullptr) {
    answered(absl::UnavailableError("this controller asks no nodes"));
    return;
  }
  backend.questions->Ask(std::move(question), answered);
}

void TellUser(const User& user, wire::User* told) {
  told->set_name(user.name);
  told->set_uid(user.uid);
  told->set_gid(user.gid);
}

void ServeLiveQuestions(Methods& methods, const Backend& backend) {
  AnswerAtOnce<ReadOutput>(methods, backend, AnswerReadOutput);
  AnswerAtOnce<ListRanks>(methods, backend, AnswerListRanks);
}

}  // namespace muster::daemon
