#pragma once

// The controller, as the verbs call it: described requests in, model values out, blocking.
//
// The only place of the cli that knows gRPC. Every call has a deadline. A call that changes
// something is tried again with the same token while the controller restarts
// (RetryPolicy::changing); a call that only reads, or is for now (`kNow`), gives up earlier. Errors
// are one line ready for the user and never InvalidArgument, which stands for bad usage:
// Unavailable when no controller answers. Thread promise: safe from any thread; each call blocks
// its own.

#include <chrono>
#include <functional>
#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/framed_stream.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/request/cluster_questions.h"
#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

// How long a call goes on trying while no controller answers.
struct RetryPolicy {
  std::chrono::milliseconds changing{10'000};
  std::chrono::milliseconds reading{1'500};
};

// What WatchJob tells at each change.
struct JobNews {
  JobView job;
  Allocation allocation;  // empty until the job has one
};

// What a call gives: its reply; of a request whose reply is Nothing, the status alone.
template <ClientRequest Request>
using Answered = std::conditional_t<std::is_same_v<typename Request::Reply, Nothing>, absl::Status,
                                    absl::StatusOr<typename Request::Reply>>;

// A job's news that come over a descriptor. For one owner.
class JobStream {
 public:
  JobStream(std::unique_ptr<FramedStream> frames, Address address)
      : frames_(std::move(frames)), address_(std::move(address)) {}

  // Readable when there is something to Read().
  [[nodiscard]] int fd() const { return frames_->fd(); }
  // Calls `tell` with the news that have come, without waiting. Whether more may come; if not, the
  // controller has told the last. Unavailable: it went away; Unimplemented: it tells no news this
  // way.
  absl::StatusOr<bool> Read(const std::function<void(const JobNews&)>& tell);

 private:
  const std::unique_ptr<FramedStream> frames_;
  const Address address_;
};

class Connection {
 public:
  // Connects lazily; fails only on an address that gRPC cannot take.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const Address& address,
                                                          RetryPolicy retry = {});
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Calls the method that the request names. Requests are described in scheduler/model: commands in
  // change/command.h, questions in model/request.
  template <ClientRequest Request>
  Answered<Request> Call(const Request& request);

  // Calls `tell` with the job's news until the stream ends or `tell` says false. OK means the job
  // is in a terminal state or `tell` had enough; Unavailable that the controller went away.
  absl::Status WatchJob(JobId job, const std::function<bool(const JobNews&)>& tell);
  // The same without a thread that waits: the news come over a descriptor. Null: not from this
  // controller; Unavailable: none is there now.
  absl::StatusOr<std::unique_ptr<JobStream>> StreamJob(JobId job);
  // Ends every WatchJob that other threads wait in, and every later one. Safe from any thread.
  void StopWatching();
  // Waits until that was called, for so long at most; whether it was. Safe from any thread.
  bool StopsWatchingWithin(std::chrono::milliseconds time);

 private:
  struct Channel;  // gRPC's, kept out of this header
  Connection(Address address, RetryPolicy retry, std::unique_ptr<Channel> channel);
  template <ClientRequest Request>
  absl::StatusOr<typename Request::Reply> Ask(const Request& request);

  const Address address_;
  const RetryPolicy retry_;
  const std::unique_ptr<Channel> channel_;
};

// Turns off what gRPC would do at start-up for features that we do not use, and its own lines on
// stderr. Sets environment variables: call it from main, before threads.
void QuietGrpc();

}  // namespace muster::cli
