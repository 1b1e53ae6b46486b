#include "cli/controller/connection.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/channel.h"
#include "proto/controller.grpc.pb.h"
#include "proto/convert/client_service.h"
#include "proto/convert/convert.h"
#include "proto/convert/methods.h"
#include "proto/convert/origin.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using google::protobuf::Message;
using std::chrono::milliseconds;
using Stub = wire::Controller::Stub;

constexpr milliseconds kCallTimeout{30'000};
constexpr std::size_t kFirstCallBytesMax = 32 << 10;
constexpr milliseconds kRetryPause{50}, kBusyPause{500};
constexpr milliseconds kConnectPatience{500};  // between two looks at the socket
constexpr std::size_t kSocketPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

// What connect(2) says of the controller's socket: 0, or an errno. Takes microseconds, and tells a
// controller that never was from one that is restarting.
int ProbeSocket(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) {
    return errno;
  }
  const int result = connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  return result == 0 || errno == EAGAIN ? 0 : errno;
}

absl::Status Nobody(const Address& address) {
  const char* const mend = address.kind == Address::Kind::kUnix
                               ? ": start one with \"muster up\""
                               : ": check that musterd runs there, with the keys that ours are of";
  return absl::UnavailableError(absl::StrCat("muster: no controller at ", address.text, mend));
}

// What gRPC says of a call that never left: either end could not be told from a stranger. Trying
// again does not help. OK: it was something else.
absl::Status Mistrust(const Address& address, const std::string& message) {
  constexpr std::string_view kPlugin = "plugin failed with error: ";
  const std::size_t plugin = message.find(kPlugin);
  if (plugin != std::string::npos) {
    return absl::UnauthenticatedError(message.substr(plugin + kPlugin.size()));
  }
  if (message.find("handshake failed") != std::string::npos ||
      message.find("Peer name") != std::string::npos) {
    return absl::UnauthenticatedError(
        absl::StrCat(address.text, ": is not the controller that ", address.keys.authority,
                     " vouches for: bring the cluster's ca.pem there, or correct the address"));
  }
  return absl::OkStatus();
}

// A request as gRPC sends it.
grpc::ByteBuffer Packed(const Message& message) {
  constexpr int kBlockBytesMax = 1 << 20;
  grpc::ByteBuffer bytes;
  grpc::ProtoBufferWriter writer(&bytes, kBlockBytesMax, static_cast<int>(message.ByteSizeLong()));
  message.SerializeToZeroCopyStream(&writer);
  return bytes;
}

absl::Status BadReply(const std::string& why) {
  return absl::InternalError(absl::StrCat("bad reply: ", why, ": update muster"));
}

}  // namespace

struct Connection::Channel {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<Stub> stub;

  std::mutex mutex;                         // guards what is below
  std::set<grpc::ClientContext*> watching;  // the streams that are being waited for
  bool stopped = false;
  std::condition_variable stops;

  // Waits until the channel is connected, for a while. gRPC reads from a new connection only while
  // somebody waits for it: between calls that fail at once it would stay half open for seconds.
  void Connect() const {
    channel->WaitForConnected(std::chrono::system_clock::now() + kConnectPatience);
  }

  // A controller lets nobody send much before it knows who that is, and a call has sent its message
  // by then: a large one is not the first on its connection.
  grpc::Status Greet() const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    wire::PingReply reply;
    return stub->Ping(&context, wire::PingRequest(), &reply);
  }

  // One call of the method at that path.
  grpc::Status CallOnce(const std::string& path, const grpc::ByteBuffer& request,
                        grpc::ByteBuffer* reply) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    grpc::CompletionQueue queue;
    const auto call = grpc::GenericStub(channel).PrepareUnaryCall(&context, path, request, &queue);
    grpc::Status status;
    call->StartCall();
    call->Finish(reply, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    return status;
  }

  // Makes one unary call, again and again while nobody answers and `patience` lasts.
  absl::Status Call(const std::string& path, const grpc::ByteBuffer& request,
                    grpc::ByteBuffer* reply, const Address& address, milliseconds patience) const {
    const SystemClock clock;
    const SteadyTime give_up = clock.SteadyNow() + patience;
    bool known = false;  // to the controller, on this connection
    for (bool first = true;; first = false) {
      bool busy = false;
      const int error = address.kind == Address::Kind::kUnix ? ProbeSocket(address.path) : 0;
      if (error == EACCES || error == EPERM) {
        return absl::PermissionDeniedError(
            absl::StrCat(address.text,
                         ": this controller belongs to another user: use --state or --controller"));
      }
      if (error == ENOENT && first) {
        return Nobody(address);  // A restarting controller leaves its socket behind.
      }
      if (error == 0) {
        const bool large =
            address.kind != Address::Kind::kUnix && request.Length() > kFirstCallBytesMax;
        const grpc::Status greeted = large && !known ? Greet() : grpc::Status::OK;
        known = greeted.ok();
        const grpc::Status status = greeted.ok() ? CallOnce(path, request, reply) : greeted;
        if (status.ok()) {
          return absl::OkStatus();
        }
        busy = status.error_details() == kFromController;
        if (status.error_code() != grpc::StatusCode::UNAVAILABLE ||
            (busy && clock.SteadyNow() >= give_up)) {
          return Refusal(status);
        }
        RETURN_IF_ERROR(busy ? absl::OkStatus() : Mistrust(address, status.error_message()));
      }
      if (clock.SteadyNow() >= give_up) {
        return Nobody(address);
      }
      std::this_thread::sleep_for(busy ? kBusyPause : kRetryPause);
      if (error == 0 && !busy) {
        known = false;
        Connect();
      }
    }
  }
};

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Address& address,
                                                             Patience patience) {
  if (address.kind == Address::Kind::kUnix && address.path.size() > kSocketPathBytesMax) {
    return absl::FailedPreconditionError(
        absl::StrCat(address.path, ": a socket's path has at most ", kSocketPathBytesMax,
                     " bytes, this one ", address.path.size(), ": use a shorter --state"));
  }
  auto channel = std::make_unique<Channel>();
  ASSIGN_OR_RETURN(channel->channel, OpenChannel(address));
  channel->stub = wire::Controller::NewStub(channel->channel);
  return std::unique_ptr<Connection>(new Connection(address, patience, std::move(channel)));
}

Connection::Connection(Address address, Patience patience, std::unique_ptr<Channel> channel)
    : address_(std::move(address)), patience_(patience), channel_(std::move(channel)) {}

Connection::~Connection() = default;

template <ClientRequest Request>
absl::StatusOr<typename Request::Reply> Connection::Ask(const Request& request) {
  const google::protobuf::MethodDescriptor& method = ClientMethod(Request::kMethod);
  const MessagePtr message = NewRequest(method);
  WriteRequest(request, message.get());
  const bool brief = ChangesNothing(method) || requires {
    Request::kNow;
  };
  grpc::ByteBuffer bytes;
  RETURN_IF_ERROR(channel_->Call(MethodPath(method), Packed(*message), &bytes, address_,
                                 brief ? patience_.reading : patience_.changing));
  const MessagePtr answer = NewReply(method);
  grpc::ProtoBufferReader reader(&bytes);
  if (!answer->ParseFromZeroCopyStream(&reader)) {
    return BadReply(absl::StrCat("no ", method.output_type()->name()));
  }
  typename Request::Reply reply{};
  if (const absl::Status read = ReadReply<Request>(*answer, &reply); !read.ok()) {
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
  grpc::ClientContext context;  // No deadline: a job may wait for days; keepalive finds the dead.
  {
    const std::lock_guard<std::mutex> lock(channel_->mutex);
    if (channel_->stopped) {
      return absl::OkStatus();
    }
    channel_->watching.insert(&context);
  }
  if (address_.kind == Address::Kind::kTcp || ProbeSocket(address_.path) == 0) {
    channel_->Connect();
  }
  wire::WatchJobRequest request;
  request.set_job(job.value());
  const auto reader = channel_->stub->WatchJob(&context, request);
  wire::WatchJobReply reply;
  bool enough = false;
  absl::Status bad = absl::OkStatus();
  while (!enough && bad.ok() && reader->Read(&reply)) {
    JobNews news;
    bad = FromWire(reply.job(), &news.job);
    bad.Update(FromWire(reply.allocation(), &news.allocation));
    enough = bad.ok() && !tell(news);
  }
  if (enough || !bad.ok()) {
    context.TryCancel();
  }
  const grpc::Status status = reader->Finish();
  const std::lock_guard<std::mutex> lock(channel_->mutex);
  channel_->watching.erase(&context);
  if (!bad.ok()) {
    return absl::InternalError(absl::StrCat("bad reply: ", std::string(bad.message())));
  }
  if (enough || channel_->stopped || status.ok()) {
    return absl::OkStatus();
  }
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ? Nobody(address_) : Refusal(status);
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
