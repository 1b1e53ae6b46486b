#include "daemon/client/stream_handler.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"
#include "daemon/client/submission.h"
#include "proto/convert/job.h"
#include "proto/convert/methods.h"
#include "proto/convert/view.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {
namespace {

// Submissions in flight on one stream before it stops reading.
constexpr std::size_t kInFlightMax = 4096;

// Reads submissions as they come; their answers go back in the same order.
class SubmitStream final : public grpc::ServerBidiReactor<wire::SubmitRequest, wire::SubmitReply>,
                           public std::enable_shared_from_this<SubmitStream> {
 public:
  SubmitStream(Controller& controller, Accounting& accounting, Worker& reader, const Gate& gate,
               Caller caller)
      : controller_(controller),
        accounting_(accounting),
        reader_(reader),
        gate_(gate),
        caller_(std::move(caller)) {}

  void Begin() {
    self_ = shared_from_this();
    StartRead(&request_);
  }
  void Refuse(const absl::Status& status) {
    self_ = shared_from_this();
    Finish(ToGrpc(status));
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const MutexLock lock(&mutex_);
      reading_ended_ = true;
      MaybeFinish();
      return;
    }
    if (Take()) {
      return;
    }
    const MutexLock lock(&mutex_);
    if (finished_) {
      return;
    }
    if (in_flight_ < kInFlightMax) {
      StartRead(&request_);
    } else {
      paused_ = true;
    }
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(&mutex_);
    writing_ = false;
    replies_.pop_front();
    --in_flight_;
    if (!ok) {
      replies_.clear();
      broken_ = true;
    }
    if (paused_ && !broken_ && end_.ok()) {
      paused_ = false;
      StartRead(&request_);
    }
    WriteNext();
  }

  void OnDone() override { self_.reset(); }

 private:
  // Hands the request on. True when nothing may be read before its answer: one that looks other
  // jobs up first would be overtaken.
  bool Take() {
    absl::Status good = gate_.StillGood(caller_);
    good = good.ok() ? gate_.Spend(caller_, request_.ByteSizeLong()) : good;
    SubmitJob input;
    good = good.ok() ? ReadRequest(request_.SerializePartialAsString(), &input) : good;
    ClaimSubmission(ActorOf(caller_), input);
    request_.Clear();
    {
      const MutexLock lock(&mutex_);
      ++in_flight_;
    }
    if (!good.ok()) {
      Answer({}, good);
      return false;
    }
    const bool waits = !input.spec.dependency.terms.empty();
    TakeWithHistory(controller_, accounting_, reader_, std::move(input),
                    [stream = shared_from_this(), waits](const core::Transition& transition,
                                                         const absl::Status& done) {
                      stream->Answer(transition, done);
                      if (waits) {
                        stream->ReadOn();
                      }
                    });
    return waits;
  }

  void ReadOn() {
    const MutexLock lock(&mutex_);
    if (!broken_ && !finished_ && end_.ok()) {
      StartRead(&request_);
    }
  }

  void Answer(const core::Transition& transition, const absl::Status& status) {
    wire::SubmitReply reply;
    reply.set_job(status.ok() ? transition.job.value() : 0);
    reply.set_remark(transition.remark);
    reply.set_error(std::string(status.message()));
    const MutexLock lock(&mutex_);
    if (absl::IsUnavailable(status) && end_.ok()) {
      end_ = status;  // a submission that may be made again, and with it all after it
    }
    if (broken_ || !end_.ok()) {
      --in_flight_;
      MaybeFinish();
      return;
    }
    replies_.push_back(std::move(reply));
    WriteNext();
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!writing_ && !replies_.empty()) {
      writing_ = true;
      StartWrite(&replies_.front());
      return;
    }
    MaybeFinish();
  }

  void MaybeFinish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const bool all = in_flight_ == 0 && reading_ended_;
    const bool cut = !end_.ok() && replies_.empty();
    if (!finished_ && !writing_ && (all || cut || broken_)) {
      finished_ = true;
      Finish(ToGrpc(end_));
    }
  }

  Controller& controller_;
  Accounting& accounting_;
  Worker& reader_;
  const Gate& gate_;
  const Caller caller_;
  std::shared_ptr<SubmitStream> self_;
  wire::SubmitRequest request_;
  Mutex mutex_;
  std::deque<wire::SubmitReply> replies_ ABSL_GUARDED_BY(mutex_);
  std::size_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // an error: what is answered then is not sent
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool paused_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool broken_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

// Sends a job's view after each change until the job is over. A slow reader misses views in
// between, never the last one.
class WatchStream final : public grpc::ServerWriteReactor<wire::WatchJobReply>,
                          public std::enable_shared_from_this<WatchStream> {
 public:
  void Begin(Controller& controller, Worker& reader, Accounting& accounting, JobId job,
             const Gate& gate, const Caller& caller) {
    self_ = shared_from_this();
    gate_ = &gate;
    caller_ = caller;
    watcher_ = std::make_shared<const Controller::Watcher>(Controller::Watcher{
        [weak = weak_from_this()](const JobView& view, const Allocation* allocation) {
          if (const std::shared_ptr<WatchStream> stream = weak.lock()) {
            stream->Show(view, allocation);
          }
        },
        [weak = weak_from_this()](const absl::Status& why) {
          if (const std::shared_ptr<WatchStream> stream = weak.lock()) {
            stream->End(why);
          }
        }});
    controller.Watch(
        job, watcher_,
        [stream = shared_from_this(), &reader, &accounting, job](const absl::Status& found) {
          if (found.ok()) {
            return;
          }
          if (!absl::IsNotFound(found)) {
            stream->End(found);
          } else if (!reader.Run(
                         [stream, &accounting, job] { stream->ShowEnded(accounting, job); })) {
            stream->End(absl::UnavailableError("too many readers; try again"));
          }
        });
  }
  void Refuse(const absl::Status& status) {
    self_ = shared_from_this();
    End(status);
  }
  // False once the caller may watch no more.
  bool LookAgain() {
    const absl::Status good = gate_->StillGood(caller_);
    if (!good.ok()) {
      gate_->Note(caller_, "WatchJob", good);
      End(good);
    }
    return good.ok();
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(&mutex_);
    writing_ = false;
    last_written_ = last_written_ || current_is_last_;
    if (!ok || last_written_) {
      EndLocked(grpc::Status::OK);
      return;
    }
    WriteNext();
  }
  void OnCancel() override { End(absl::CancelledError("the watcher went away")); }
  void OnDone() override {
    watcher_.reset();
    self_.reset();
  }

 private:
  void Show(const JobView& view, const Allocation* allocation) {
    if (!LookAgain()) {
      return;
    }
    if (!MaySee(caller_, view.user)) {
      const absl::Status refused = NotTheirs(caller_, view.label, view.user);
      gate_->Note(caller_, "WatchJob", refused);
      End(refused);
      return;
    }
    wire::WatchJobReply reply;
    ToWire(view, reply.mutable_job());
    if (allocation != nullptr) {
      ToWire(*allocation, reply.mutable_allocation());
    }
    const MutexLock lock(&mutex_);
    next_ = std::move(reply);
    has_next_ = true;
    next_is_last_ = IsTerminal(view.state);
    WriteNext();
  }

  void ShowEnded(Accounting& accounting, JobId job) {
    HistoryFilter filter;
    filter.jobs = {job};
    const absl::StatusOr<std::vector<JobView>> views = accounting.List(filter);
    if (!views.ok() || views->empty()) {
      End(views.ok() ? absl::NotFoundError("no such job") : views.status());
      return;
    }
    Show(views->front(), nullptr);
  }

  void End(const absl::Status& status) {
    const MutexLock lock(&mutex_);
    EndLocked(ToGrpc(status));
  }
  void EndLocked(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!finished_) {
      finished_ = true;
      Finish(status);
    }
  }
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_ || !has_next_) {
      return;
    }
    writing_ = true;
    has_next_ = false;
    current_ = std::move(next_);
    current_is_last_ = next_is_last_;
    StartWrite(&current_);
  }

  std::shared_ptr<WatchStream> self_;
  const Gate* gate_ = nullptr;
  Caller caller_;
  Controller::WatchHandle watcher_;
  Mutex mutex_;
  wire::WatchJobReply current_ ABSL_GUARDED_BY(mutex_);
  wire::WatchJobReply next_ ABSL_GUARDED_BY(mutex_);
  bool current_is_last_ ABSL_GUARDED_BY(mutex_) = false;
  bool next_is_last_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_next_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool last_written_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

StreamHandler::StreamHandler(Controller& controller, Accounting& accounting, Worker& reader,
                             const Gate& gate)
    : controller_(controller),
      accounting_(accounting),
      reader_(reader),
      gate_(gate),
      thread_([this] { Run(); }) {}

StreamHandler::~StreamHandler() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void StreamHandler::Run() {
  std::vector<Look> looks;
  while (true) {
    {
      const MutexLock lock(&mutex_);
      std::move(looks.begin(), looks.end(), std::back_inserter(looks_));
      while (!stopping_ && looks_.empty()) {
        changed_.Wait(&mutex_);
      }
      const auto until = std::chrono::steady_clock::now() + kLookEvery;
      while (!stopping_ && std::chrono::steady_clock::now() < until) {
        changed_.WaitFor(&mutex_, until - std::chrono::steady_clock::now());
      }
      if (stopping_) {
        return;
      }
      looks = std::exchange(looks_, {});
    }
    std::erase_if(looks, [](const Look& look) { return !look(); });
  }
}

StreamHandler::Submissions* StreamHandler::SubmitMany(absl::StatusOr<Caller> caller) {
  if (const absl::Status may = caller.ok() ? gate_.MaySubmit(*caller) : caller.status();
      !may.ok()) {
    caller = may;
  }
  auto stream = std::make_shared<SubmitStream>(controller_, accounting_, reader_, gate_,
                                               caller.ok() ? *caller : Caller());
  if (caller.ok()) {
    stream->Begin();
  } else {
    stream->Refuse(caller.status());
  }
  return stream.get();
}

StreamHandler::Views* StreamHandler::WatchJob(const absl::StatusOr<Caller>& caller, JobId job) {
  auto stream = std::make_shared<WatchStream>();
  if (caller.ok()) {
    stream->Begin(controller_, reader_, accounting_, job, gate_, *caller);
    const MutexLock lock(&mutex_);
    looks_.emplace_back([weak = std::weak_ptr<WatchStream>(stream)] {
      const std::shared_ptr<WatchStream> alive = weak.lock();
      return alive != nullptr && alive->LookAgain();
    });
    changed_.NotifyAll();
  } else {
    stream->Refuse(caller.status());
  }
  return stream.get();
}

}  // namespace muster::daemon
