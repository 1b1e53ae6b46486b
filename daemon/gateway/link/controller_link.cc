#include "daemon/gateway/link/controller_link.h"

#include <grpc/grpc_security_constants.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/convert/client_service.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"

namespace muster::daemon {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// As many as the controller takes of one connection, less some.
constexpr std::size_t kStreamsOfConnection = 100;
constexpr std::size_t kEventConnectionsMax = 16;
constexpr int kReplyBytesMax = 256 << 20;
// As daemon/access/token_store.h has it, which the controller's process alone may include.
constexpr const char* kTokenKey = "muster-token";

grpc::ByteBuffer Packed(const Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

std::unique_ptr<Message> Unpacked(const MethodDescriptor& method, const grpc::ByteBuffer& buffer) {
  std::unique_ptr<Message> message = NewReply(method);
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (buffer.Dump(&slices).ok()) {
    for (const grpc::Slice& slice : slices) {
      bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
  }
  return message->ParseFromString(bytes) ? std::move(message) : nullptr;
}

template <class Call>
std::function<void()> CancelOf(const std::shared_ptr<Call>& call) {
  return [weak = std::weak_ptr<Call>(call)] {
    if (const std::shared_ptr<Call> alive = weak.lock()) {
      alive->Cancel();
    }
  };
}

grpc::Status Closing() {
  return {grpc::StatusCode::UNAVAILABLE, "the gateway is stopping"};
}

}  // namespace

// One call with one answer; owns itself until it is done.
class ControllerLink::UnaryCall {
 public:
  static void Make(ControllerLink& link, const MethodDescriptor& method, const Message& request,
                   const std::string& token, Done done) {
    auto call = std::make_shared<UnaryCall>(link, method, std::move(done));
    call->request_ = Packed(request);
    call->context_.AddMetadata(kTokenKey, token);
    call->context_.set_deadline(std::chrono::system_clock::now() + kPatience);
    if (!link.Enter(call.get(), CancelOf(call))) {
      call->done_(Closing(), nullptr);
      return;
    }
    link.stub_.UnaryCall(&call->context_, MethodPath(method), grpc::StubOptions(), &call->request_,
                         &call->reply_, [call](const grpc::Status& status) { call->End(status); });
  }
  void Cancel() { context_.TryCancel(); }
  UnaryCall(ControllerLink& link, const MethodDescriptor& method, Done done)
      : link_(link), method_(method), done_(std::move(done)) {}

 private:
  void End(const grpc::Status& status) {
    std::unique_ptr<Message> reply = status.ok() ? Unpacked(method_, reply_) : nullptr;
    if (status.ok() && reply == nullptr) {
      done_({grpc::StatusCode::INTERNAL, "the controller's answer cannot be read"}, nullptr);
    } else {
      done_(status, std::move(reply));
    }
    done_ = nullptr;
    link_.Leave(this);
  }

  ControllerLink& link_;
  const MethodDescriptor& method_;
  Done done_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
};

// One stream of events; owns itself until it is done.
class ControllerLink::EventCall final : public grpc::ClientReadReactor<wire::WatchEventsReply> {
 public:
  EventCall(ControllerLink& link, EventChannel* channel, EventReader reader)
      : link_(link),
        channel_(channel),
        stub_(wire::Controller::NewStub(channel->channel)),
        reader_(std::move(reader)) {}

  static std::shared_ptr<EventCall> Make(ControllerLink& link, EventChannel* channel,
                                         const wire::WatchEventsRequest& request,
                                         const std::string& token, EventReader reader) {
    auto call = std::make_shared<EventCall>(link, channel, std::move(reader));
    call->self_ = call;
    call->request_ = request;
    call->context_.AddMetadata(kTokenKey, token);
    if (!link.Enter(call.get(), CancelOf(call))) {
      link.GiveBack(channel);
      call->reader_.ended(Closing());
      call->self_.reset();
      return nullptr;
    }
    call->stub_->async()->WatchEvents(&call->context_, &call->request_, call.get());
    call->StartRead(&call->reply_);
    call->StartCall();
    return call;
  }
  void Cancel() { context_.TryCancel(); }

  void OnReadDone(bool ok) override {
    if (ok) {
      reader_.news(reply_);
      StartRead(&reply_);
    }
  }
  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<EventCall> self = std::move(self_);
    reader_.ended(status);
    reader_ = {};
    link_.GiveBack(channel_);
    link_.Leave(this);
  }

 private:
  ControllerLink& link_;
  EventChannel* const channel_;
  const std::unique_ptr<wire::Controller::Stub> stub_;
  EventReader reader_;
  std::shared_ptr<EventCall> self_;
  grpc::ClientContext context_;
  wire::WatchEventsRequest request_;
  wire::WatchEventsReply reply_;
};

ControllerLink::ControllerLink(MakeChannel make)
    : make_(std::move(make)), channel_(make_()), stub_(channel_) {}

ControllerLink::~ControllerLink() {
  Close();
}

absl::StatusOr<std::unique_ptr<ControllerLink>> ControllerLink::Open(const std::string& address,
                                                                     const std::string& authority) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  if (absl::StartsWith(address, "unix:")) {
    credentials = grpc::InsecureChannelCredentials();
  } else if (authority.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--controller ", address, ": over TCP, and nothing says whom to trust: give --ca FILE"));
  } else {
    grpc::SslCredentialsOptions options;
    ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(authority));
    arguments.SetString(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, kControllerName);
    credentials = grpc::SslCredentials(options);
  }
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return std::unique_ptr<ControllerLink>(new ControllerLink([address, credentials, arguments]() {
    return grpc::CreateCustomChannel(address, credentials, arguments);
  }));
}

const MethodDescriptor* ControllerLink::FindMethod(const std::string& name) {
  return ClientServiceType().FindMethodByName(name);
}

void ControllerLink::Call(const MethodDescriptor& method, const Message& request,
                          const std::string& token, Done done) {
  if (token.empty()) {
    done({grpc::StatusCode::UNAUTHENTICATED, "no token; make one: muster token"}, nullptr);
    return;
  }
  UnaryCall::Make(*this, method, request, token, std::move(done));
}

std::function<void()> ControllerLink::Watch(const wire::WatchEventsRequest& request,
                                            const std::string& token, EventReader reader) {
  EventChannel* const channel = TakeEventChannel();
  if (channel == nullptr) {
    reader.ended({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many readers of events"});
    return [] {};
  }
  const auto call = EventCall::Make(*this, channel, request, token, std::move(reader));
  return call == nullptr ? std::function<void()>([] {}) : CancelOf(call);
}

ControllerLink::EventChannel* ControllerLink::TakeEventChannel() {
  const MutexLock lock(&mutex_);
  for (const auto& channel : event_channels_) {
    if (channel->streams < kStreamsOfConnection) {
      ++channel->streams;
      return channel.get();
    }
  }
  if (event_channels_.size() >= kEventConnectionsMax) {
    return nullptr;
  }
  event_channels_.push_back(std::make_unique<EventChannel>(EventChannel{make_(), 1}));
  return event_channels_.back().get();
}

void ControllerLink::GiveBack(EventChannel* channel) {
  const MutexLock lock(&mutex_);
  --channel->streams;
}

bool ControllerLink::Connected() const {
  return channel_->GetState(true) == GRPC_CHANNEL_READY;
}

bool ControllerLink::Enter(const void* call, std::function<void()> cancel) {
  const MutexLock lock(&mutex_);
  if (!closed_) {
    calls_.emplace(call, std::move(cancel));
  }
  return !closed_;
}

void ControllerLink::Leave(const void* call) {
  const MutexLock lock(&mutex_);
  calls_.erase(call);
  changed_.NotifyAll();
}

void ControllerLink::Close() {
  std::vector<std::function<void()>> cancels;
  {
    const MutexLock lock(&mutex_);
    closed_ = true;
    for (const auto& [call, cancel] : calls_) {
      cancels.push_back(cancel);
    }
  }
  for (const std::function<void()>& cancel : cancels) {
    cancel();
  }
  const MutexLock lock(&mutex_);
  while (!calls_.empty()) {
    changed_.Wait(&mutex_);
  }
}

}  // namespace muster::daemon
