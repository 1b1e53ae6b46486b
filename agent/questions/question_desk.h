#pragma once

// Answers the controller's questions about what runs on this node or has run here.
//
// What is a user's (the files of jobs, what their processes say) is read by a child that is that
// user; nothing here waits for it. Thread promise: the loop's thread. Invariants: (1) each question
// gets one answer, or none when this goes before; (2) kAtOnceMax are worked on at a time, and
// kWaitingMax wait, at most; (3) nothing is read as a user whose jobs this node does not run.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/attempts/place/attempt_key.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/attempt/network_class.h"
#include "agent/supervisor/user_space/as_user.h"
#include "agent/supervisor/user_space/job_user.h"
#include "proto/agent.pb.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"

namespace muster::agent {

class QuestionDesk {
 public:
  // What it needs to know of its agent.
  struct Sources {
    std::string node;              // our name
    ContainerSettings containers;  // where images are kept; without a cache: nowhere
    std::string fetcher;           // muster-container; "": no image is fetched ahead or given
    StagingSettings staging;       // where copies of data are kept; without a program: nowhere
    CopiesAhead ahead = CopiesAhead::kNone;  // of jobs that wait
    NetworkClasses network;                  // the node's
    // PermissionDenied when jobs of that user are not run here.
    std::function<absl::Status(std::uint32_t uid)> may_read_as;
    // The control group of an attempt that runs here, or "" where it has none; NotFound.
    std::function<absl::StatusOr<std::string>(const AttemptKey& key)> cgroup_of;
    // The control group for what is started as that user and goes on by itself (fetches, copies);
    // "": there are none.
    std::function<std::string(std::uint32_t uid)> cgroup_for = nullptr;
    // How busy the GPUs are of an attempt that runs here.
    std::function<void(const AttemptKey& key, wire::ProcessAnswer* answer)> add_gpus;
    std::function<void(const wire::NodeQuestionReply& answer)> send;
  };

  // REQUIRES: the references outlive it.
  QuestionDesk(EventLoop& loop, const Clock& clock, Sources sources)
      : loop_(loop), clock_(clock), sources_(std::move(sources)) {}
  QuestionDesk(const QuestionDesk&) = delete;
  QuestionDesk& operator=(const QuestionDesk&) = delete;

  void Take(const wire::NodeQuestion& question);

  static constexpr std::size_t kAtOnceMax = 8;
  static constexpr std::size_t kWaitingMax = 1024;
  static constexpr Duration kWithin = std::chrono::seconds(15);

 private:
  // What a child brought, as the answer's body.
  using Fill = std::function<absl::Status(const Brought& brought, wire::NodeQuestionReply* answer)>;
  // A question on its way: as whom it is answered, by which work.
  struct Work {
    User user;
    UserWork work;
    Fill fill;
    std::string directory = {};  // in which the user is to have one first; empty: none is needed
    bool starts = false;         // a program that goes on when the answer is there
  };
  absl::StatusOr<Work> WorkFor(const wire::NodeQuestion& question) const;
  absl::StatusOr<Work> ProcessWork(const wire::ProcessQuestion& question) const;
  absl::StatusOr<Work> ImageWork(const wire::ImageQuestion& question) const;
  absl::StatusOr<Work> ProgramWork(const wire::ImageQuestion& question) const;
  absl::StatusOr<Work> BringWork(const wire::ImageQuestion& question) const;
  void Begin(std::uint64_t number, Work work);
  void BeginWaiting();
  void Answer(std::uint64_t number, const absl::Status& status,
              wire::NodeQuestionReply answer) const;

  EventLoop& loop_;
  const Clock& clock_;
  const Sources sources_;
  struct Task {
    std::unique_ptr<JobUser> user;
    std::unique_ptr<UserTask> task;
  };
  std::map<std::uint64_t, Task> tasks_;
  std::deque<wire::NodeQuestion> waiting_;
};

}  // namespace muster::agent
