#include "cli/controller/connection.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/controller/channel.h"
#include "cli/controller/controllers.h"
#include "cli/controller/reach.h"
#include "proto/controller.grpc.pb.h"
#include "proto/convert/job.h"
#include "proto/convert/methods.h"
#include "proto/convert/view.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

using Stub = wire::Controller::Stub;

absl::Status BadReply(const std::string& why) {
  return absl::InternalError(absl::StrCat("bad reply: ", why, ": update muster"));
}

absl::Status ReadNews(const wire::WatchJobReply& reply, JobNews* news) {
  absl::Status read = FromWire(reply.job(), &news->job);
  read.Update(FromWire(reply.allocation(), &news->allocation));
  return read.ok() ? read : BadReply(std::string(read.message()));
}

}  // namespace

absl::StatusOr<bool> JobStream::Read(const std::function<void(const JobNews&)>& tell) {
  absl::Status bad = absl::OkStatus();
  const FramedStream::State state = frames_->Read([&](std::string_view message) {
    wire::WatchJobReply reply;
    JobNews news;
    bad.Update(reply.ParseFromArray(message.data(), static_cast<int>(message.size()))
                   ? ReadNews(reply, &news)
                   : BadReply("not a message"));
    if (bad.ok()) {
      tell(news);
    }
  });
  RETURN_IF_ERROR(bad);
  switch (state) {
    case FramedStream::State::kMore:
      return true;
    case FramedStream::State::kForeign:
      return absl::UnimplementedError("");
    case FramedStream::State::kBroken:
      return Nobody(address_);
    case FramedStream::State::kEnded:
      break;
  }
  const auto code = static_cast<grpc::StatusCode>(frames_->code());
  switch (code) {
    case grpc::StatusCode::OK:
      return false;
    case grpc::StatusCode::UNAVAILABLE:
      return Nobody(address_);
    case grpc::StatusCode::UNIMPLEMENTED:
      return absl::UnimplementedError(frames_->text());
    default:
      return Refusal(grpc::Status(code, frames_->text()));
  }
}

struct Connection::Channel {
  explicit Channel(const Address& address) : controllers(address) {}

  Controllers controllers;
  std::mutex mutex;                         // guards what is below
  std::set<grpc::ClientContext*> watching;  // the streams that are being waited for
  bool stopped = false;
  std::condition_variable stops;
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Address& address,
                                                             RetryPolicy retry) {
  if (address.text.find(',') == std::string::npos && address.kind == Address::Kind::kUnix &&
      address.path.size() > kSocketPathBytesMax) {
    return absl::FailedPreconditionError(
        absl::StrCat(address.path, ": a socket's path has at most ", kSocketPathBytesMax,
                     " bytes, this one ", address.path.size(), ": use a shorter --state"));
  }
  auto channel = std::make_unique<Channel>(address);
  RETURN_IF_ERROR(channel->controllers.Open());
  return std::unique_ptr<Connection>(new Connection(address, retry, std::move(channel)));
}

Connection::Connection(Address address, RetryPolicy retry, std::unique_ptr<Channel> channel)
    : address_(std::move(address)), retry_(retry), channel_(std::move(channel)) {}

Connection::~Connection() = default;

template <ClientRequest Request>
absl::StatusOr<typename Request::Reply> Connection::Ask(const Request& request) {
  std::string asked;
  AppendRequest(request, &asked);
  const bool brief = ChangesNothing<Request>() || requires {
    Request::kNow;
  };
  const bool repeatable = ChangesNothing<Request>() || requires {
    request.token;
  };
  ASSIGN_OR_RETURN(const std::string answer,
                   channel_->controllers.Call(Request::kMethod, asked, repeatable,
                                              brief ? retry_.reading : retry_.changing));
  typename Request::Reply reply{};
  if (const absl::Status read = ReadReply<Request>(answer, &reply); !read.ok()) {
    return BadReply(std::string(read.message()));
  }
  return reply;
}

template <ClientRequest Request>
Answered<Request> Connection::Call(const Request& request) {
  if constexpr (std::is_same_v<typename Request::Reply, Nothing>) {
    return Ask(request).status();
  } else {
    return Ask(request);
  }
}

#define MUSTER_CALL(REQUEST) \
  template Answered<REQUEST> Connection::Call<REQUEST>(const REQUEST& request);
MUSTER_CLIENT_COMMANDS(MUSTER_CALL)
MUSTER_JOB_QUESTIONS(MUSTER_CALL)
MUSTER_CLUSTER_QUESTIONS(MUSTER_CALL)
#undef MUSTER_CALL

absl::Status Connection::WatchJob(JobId job, const std::function<bool(const JobNews&)>& tell) {
  CallChannel& leader = channel_->controllers.Leader();
  ASSIGN_OR_RETURN(Stub* const stub, leader.OpenGrpc());
  grpc::ClientContext context;  // No deadline: a job may wait for days; keepalive finds the dead.
  {
    const std::lock_guard<std::mutex> lock(channel_->mutex);
    if (channel_->stopped) {
      return absl::OkStatus();
    }
    channel_->watching.insert(&context);
  }
  if (leader.MayConnect()) {
    leader.Connect();
  }
  wire::WatchJobRequest request;
  request.set_job(job.value());
  const auto reader = stub->WatchJob(&context, request);
  wire::WatchJobReply reply;
  bool enough = false;
  absl::Status bad = absl::OkStatus();
  while (!enough && bad.ok() && reader->Read(&reply)) {
    JobNews news;
    bad = ReadNews(reply, &news);
    enough = bad.ok() && !tell(news);
  }
  if (enough || !bad.ok()) {
    context.TryCancel();
  }
  const grpc::Status status = reader->Finish();
  const std::lock_guard<std::mutex> lock(channel_->mutex);
  channel_->watching.erase(&context);
  RETURN_IF_ERROR(bad);
  if (enough || channel_->stopped || status.ok()) {
    return absl::OkStatus();
  }
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ? Nobody(address_) : Refusal(status);
}

absl::StatusOr<std::unique_ptr<JobStream>> Connection::StreamJob(JobId job) {
  CallChannel* const only = channel_->controllers.Only();
  if (only == nullptr) {
    return nullptr;
  }
  wire::WatchJobRequest request;
  request.set_job(job.value());
  ASSIGN_OR_RETURN(std::unique_ptr<FramedStream> frames,
                   only->OpenStream("WatchJob", request.SerializeAsString()));
  return frames == nullptr ? nullptr : std::make_unique<JobStream>(std::move(frames), address_);
}

void Connection::StopWatching() {
  const std::lock_guard<std::mutex> lock(channel_->mutex);
  channel_->stopped = true;
  for (grpc::ClientContext* context : channel_->watching) {
    context->TryCancel();
  }
  channel_->stops.notify_all();
}

bool Connection::StopsWatchingWithin(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(channel_->mutex);
  return channel_->stops.wait_for(lock, time, [this] { return channel_->stopped; });
}

void QuietGrpc() {
  // What the user set stays.
  setenv("GRPC_ENABLE_FORK_SUPPORT", "0", 0);  // NOLINT(concurrency-mt-unsafe): before threads.
  setenv("GRPC_DNS_RESOLVER", "native", 0);    // NOLINT(concurrency-mt-unsafe): before threads.
  setenv("GRPC_VERBOSITY", "NONE", 0);         // NOLINT(concurrency-mt-unsafe): before threads.
}

}  // namespace muster::cli
