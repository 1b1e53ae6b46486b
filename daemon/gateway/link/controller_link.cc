#include "daemon/gateway/link/controller_link.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/alarm.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/convert/client_service.h"
#include "proto/convert/origin.h"
#include "proto/leadership.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/mac.h"

namespace muster::daemon {
namespace {

using google::protobuf::Message;
using google::protobuf::MethodDescriptor;

// As many as the controller takes of one connection, less some.
constexpr std::size_t kStreamsOfConnection = 100;
constexpr std::size_t kEventConnectionsMax = 16;
constexpr std::chrono::seconds kSeekEvery{1};
constexpr std::chrono::seconds kStatusPatience{2};
constexpr std::chrono::milliseconds kRepeatPause{100};
constexpr std::size_t kTokenBytes = 16;
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
  UnaryCall(const MethodDescriptor& method, const Message& request, Done done)
      : method_(method), done_(std::move(done)), request_(Packed(request)) {}

  static void Begin(const std::shared_ptr<UnaryCall>& call, ControllerLink& link, Place& place,
                    const std::string& token, std::chrono::milliseconds patience) {
    call->context_.AddMetadata(kTokenKey, token);
    call->context_.set_deadline(std::chrono::system_clock::now() + patience);
    const std::optional<CallNumber> number = link.Enter(CancelOf(call));
    if (!number.has_value()) {
      call->done_(Closing(), nullptr);
      return;
    }
    place.stub.UnaryCall(
        &call->context_, MethodPath(call->method_), grpc::StubOptions(), &call->request_,
        &call->reply_, [call = call, &link, number = *number](const grpc::Status& status) mutable {
          call->End(status);
          call.reset();  // before Leave: see there
          link.Leave(number);
        });
  }
  void Cancel() { context_.TryCancel(); }

 private:
  void End(const grpc::Status& status) {
    std::unique_ptr<Message> reply = status.ok() ? Unpacked(method_, reply_) : nullptr;
    if (status.ok() && reply == nullptr) {
      done_({grpc::StatusCode::INTERNAL, "the controller's answer cannot be read"}, nullptr);
    } else {
      done_(status, std::move(reply));
    }
    done_ = nullptr;
  }

  const MethodDescriptor& method_;
  Done done_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer reply_;
};

// Asks one controller after the other whether it leads; owns itself until one does, or all were
// asked. Of those that do not, the first that answers is called.
class ControllerLink::Search : public std::enable_shared_from_this<Search> {
 public:
  Search(ControllerLink& link, std::string token, std::function<void()> found)
      : link_(link), token_(std::move(token)), found_(std::move(found)), first_(link.at_) {}

  void AskNext() {
    const std::size_t count = link_.places_.size();
    if (asked_ == count) {
      found_();
      return;
    }
    const std::size_t place = (first_ + asked_++) % count;
    const MethodDescriptor& method = *wire::ReadControllerStatusRequest::descriptor()
                                          ->file()
                                          ->FindServiceByName("Leadership")
                                          ->FindMethodByName("ReadControllerStatus");
    Done done = [search = shared_from_this(), place](const grpc::Status& status,
                                                     const std::unique_ptr<Message>& reply) {
      search->Hear(place, status, reply.get());
    };
    UnaryCall::Begin(
        std::make_shared<UnaryCall>(method, wire::ReadControllerStatusRequest(), std::move(done)),
        link_, *link_.places_[place], token_, kStatusPatience);
  }

 private:
  void Hear(std::size_t place, const grpc::Status& status, const Message* reply) {
    const auto* const said = dynamic_cast<const wire::ReadControllerStatusReply*>(reply);
    const bool leads = status.ok() && said != nullptr && said->leads();
    if (leads || (status.ok() && !std::exchange(answered_, true))) {
      link_.at_ = place;
    }
    if (leads) {
      link_.seek_at_ = std::chrono::steady_clock::now() + kSeekEvery;
      found_();
    } else {
      AskNext();
    }
  }

  ControllerLink& link_;
  const std::string token_;
  const std::function<void()> found_;
  const std::size_t first_;
  std::size_t asked_ = 0;
  bool answered_ = false;
};

// A call to whichever of several controllers leads; owns itself until it is done.
class ControllerLink::RepeatedCall : public std::enable_shared_from_this<RepeatedCall> {
 public:
  RepeatedCall(ControllerLink& link, const MethodDescriptor& method, const Message& request,
               std::string token, Done done)
      : link_(link),
        method_(method),
        request_(request.New()),
        token_(std::move(token)),
        done_(std::move(done)),
        give_up_(std::chrono::steady_clock::now() + kPatienceWithAll) {
    request_->CopyFrom(request);
    once_ = ChangesNothing(method) || Name();
  }

  void Begin() {
    link_.Seek(token_, [call = shared_from_this()] {
      Done done = [call](const grpc::Status& status, std::unique_ptr<Message> reply) {
        call->End(status, std::move(reply));
      };
      UnaryCall::Begin(std::make_shared<UnaryCall>(call->method_, *call->request_, std::move(done)),
                       call->link_, call->link_.Called(), call->token_, kPatienceWithOne);
    });
  }

 private:
  // Gives the request a token, by which the controllers know it again; false: it has none.
  bool Name() {
    const google::protobuf::FieldDescriptor* const field =
        request_->GetDescriptor()->FindFieldByName("token");
    if (field == nullptr || field->is_repeated() ||
        field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
      return false;
    }
    const google::protobuf::Reflection& fields = *request_->GetReflection();
    if (fields.GetString(*request_, field).empty()) {
      const absl::StatusOr<std::string> random = RandomBytes(kTokenBytes);
      if (!random.ok()) {
        return false;
      }
      fields.SetString(request_.get(), field, absl::BytesToHexString(*random));
    }
    return true;
  }

  void End(const grpc::Status& status, std::unique_ptr<Message> reply) {
    const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    const bool gone = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    if (gone || late) {
      link_.Doubt();
    }
    // What a controller refuses as not available it has not done.
    const bool again =
        (gone && (once_ || status.error_details() == kFromController)) || (late && once_);
    if (!again || std::chrono::steady_clock::now() >= give_up_) {
      done_(status, std::move(reply));
      return;
    }
    Pause();
  }

  void Pause() {
    alarm_ = std::make_unique<grpc::Alarm>();
    const std::optional<CallNumber> number = link_.Enter([weak = weak_from_this()] {
      if (const std::shared_ptr<RepeatedCall> call = weak.lock()) {
        call->alarm_->Cancel();
      }
    });
    if (!number.has_value()) {
      done_(Closing(), nullptr);
      return;
    }
    alarm_->Set(std::chrono::system_clock::now() + kRepeatPause,
                [self = shared_from_this(), number = *number](bool over) mutable {
                  const std::shared_ptr<RepeatedCall> call = std::move(self);
                  if (over) {
                    call->Begin();
                  } else {
                    call->done_(Closing(), nullptr);
                  }
                  call->link_.Leave(number);
                });
  }

  ControllerLink& link_;
  const MethodDescriptor& method_;
  const std::unique_ptr<Message> request_;
  const std::string token_;
  const Done done_;
  const std::chrono::steady_clock::time_point give_up_;
  bool once_ = false;  // made twice it has one effect
  std::unique_ptr<grpc::Alarm> alarm_;
};

// One stream of events; owns itself until it is done.
template <class Asked, class Message>
class ControllerLink::StreamCall final : public grpc::ClientReadReactor<Message> {
 public:
  StreamCall(ControllerLink& link, EventChannel* channel, StreamReader<Message> reader)
      : link_(link),
        channel_(channel),
        stub_(wire::Controller::NewStub(channel->channel)),
        reader_(std::move(reader)) {}

  static std::shared_ptr<StreamCall> Make(ControllerLink& link, EventChannel* channel,
                                          const Asked& request, const std::string& token,
                                          StreamReader<Message> reader) {
    auto call = std::make_shared<StreamCall>(link, channel, std::move(reader));
    call->self_ = call;
    call->request_ = request;
    call->context_.AddMetadata(kTokenKey, token);
    const std::optional<CallNumber> number = link.Enter(CancelOf(call));
    if (!number.has_value()) {
      link.GiveBack(channel);
      call->reader_.ended(Closing());
      call->self_.reset();
      return nullptr;
    }
    call->number_ = *number;
    Begin(*call->stub_->async(), call->context_, call->request_, *call);
    call->AddHold();  // until nothing is read any more: reads begin on any thread
    call->more_ = [weak = std::weak_ptr<StreamCall>(call)] {
      if (const std::shared_ptr<StreamCall> alive = weak.lock()) {
        alive->ReadOn();
      }
    };
    call->StartRead(&call->reply_);
    call->StartCall();
    return call;
  }
  void Cancel() {
    context_.TryCancel();
    if (Leave(Reading::kPaused, Reading::kOver)) {
      this->RemoveHold();
    }
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      Leave(Reading::kUnderWay, Reading::kPaused);
      reader_.news(reply_, more_);
    } else if (Leave(Reading::kUnderWay, Reading::kOver)) {
      this->RemoveHold();
    }
  }
  void OnDone(const grpc::Status& status) override {
    std::shared_ptr<StreamCall> self = std::move(self_);
    ControllerLink& link = link_;
    const CallNumber number = number_;
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      link.Doubt();
    }
    reader_.ended(status);
    reader_ = {};
    more_ = nullptr;
    link.GiveBack(channel_);
    self.reset();  // before Leave: see there
    link.Leave(number);
  }

 private:
  enum class Reading { kUnderWay, kPaused, kOver };

  using Async = wire::Controller::StubInterface::async_interface;
  static void Begin(Async& stub, grpc::ClientContext& context,
                    const wire::WatchEventsRequest& request,
                    grpc::ClientReadReactor<wire::WatchEventsReply>& reactor) {
    stub.WatchEvents(&context, &request, &reactor);
  }
  static void Begin(Async& stub, grpc::ClientContext& context, const wire::WatchJobRequest& request,
                    grpc::ClientReadReactor<wire::WatchJobReply>& reactor) {
    stub.WatchJob(&context, &request, &reactor);
  }
  // Whether it was `from`; it is `to` then.
  bool Leave(Reading from, Reading to) { return reading_.compare_exchange_strong(from, to); }
  void ReadOn() {
    if (Leave(Reading::kPaused, Reading::kUnderWay)) {
      this->StartRead(&reply_);
    }
  }

  ControllerLink& link_;
  EventChannel* const channel_;
  const std::unique_ptr<wire::Controller::Stub> stub_;
  StreamReader<Message> reader_;
  std::function<void()> more_;
  std::atomic<Reading> reading_ = Reading::kUnderWay;
  CallNumber number_ = 0;
  std::shared_ptr<StreamCall> self_;
  grpc::ClientContext context_;
  Asked request_;
  Message reply_;
};

ControllerLink::ControllerLink(std::vector<MakeChannel> makers) {
  for (MakeChannel& make : makers) {
    places_.push_back(std::make_unique<Place>(std::move(make)));
  }
}

ControllerLink::~ControllerLink() {
  Close();
}

absl::StatusOr<std::unique_ptr<ControllerLink>> ControllerLink::Open(const std::string& addresses,
                                                                     const std::string& authority) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20'000);
  arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  std::vector<MakeChannel> makers;
  for (const std::string& address : std::vector<std::string>(absl::StrSplit(addresses, ','))) {
    grpc::ChannelArguments own = arguments;
    std::shared_ptr<grpc::ChannelCredentials> credentials;
    if (absl::StartsWith(address, "unix:")) {
      credentials = grpc::InsecureChannelCredentials();
    } else if (address.empty() || authority.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--controller ", addresses,
          address.empty() ? ": an empty address between its commas"
                          : ": over TCP, and nothing says whom to trust: give --ca FILE"));
    } else {
      grpc::SslCredentialsOptions options;
      ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(authority));
      own.SetString(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, kControllerName);
      credentials = grpc::SslCredentials(options);
    }
    makers.emplace_back([address, credentials, own]() {
      return grpc::CreateCustomChannel(address, credentials, own);
    });
  }
  return std::unique_ptr<ControllerLink>(new ControllerLink(std::move(makers)));
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
  if (places_.size() == 1) {
    UnaryCall::Begin(std::make_shared<UnaryCall>(method, request, std::move(done)), *this, Called(),
                     token, kPatience);
  } else {
    std::make_shared<RepeatedCall>(*this, method, request, token, std::move(done))->Begin();
  }
}

// What was found holds for a while, and for others, too. That nothing was found does not: perhaps
// the token was none.
void ControllerLink::Seek(const std::string& token, std::function<void()> found) {
  if (places_.size() == 1 || std::chrono::steady_clock::now() < seek_at_.load()) {
    found();
    return;
  }
  std::make_shared<Search>(*this, token, std::move(found))->AskNext();
}

std::function<void()> ControllerLink::Watch(const wire::WatchEventsRequest& request,
                                            const std::string& token, EventReader reader) {
  return WatchAny(request, token, std::move(reader));
}

std::function<void()> ControllerLink::Watch(const wire::WatchJobRequest& request,
                                            const std::string& token, JobReader reader) {
  return WatchAny(request, token, std::move(reader));
}

template <class Asked, class Message>
std::function<void()> ControllerLink::WatchAny(const Asked& request, const std::string& token,
                                               StreamReader<Message> reader) {
  // What ends the stream, once there is one.
  struct Ending {
    Mutex mutex;
    bool wanted ABSL_GUARDED_BY(mutex) = false;
    std::function<void()> end ABSL_GUARDED_BY(mutex);
  };
  const auto ending = std::make_shared<Ending>();
  Seek(token, [this, request, token, reader = std::move(reader), ending] {
    std::function<void()> end = BeginWatch(request, token, reader);
    {
      const MutexLock lock(&ending->mutex);
      if (!ending->wanted) {
        ending->end = std::move(end);
        return;
      }
    }
    end();
  });
  return [ending] {
    std::function<void()> end;
    {
      const MutexLock lock(&ending->mutex);
      ending->wanted = true;
      end = std::move(ending->end);
    }
    if (end) {
      end();
    }
  };
}

template <class Asked, class Message>
std::function<void()> ControllerLink::BeginWatch(const Asked& request, const std::string& token,
                                                 StreamReader<Message> reader) {
  EventChannel* const channel = TakeEventChannel();
  if (channel == nullptr) {
    reader.ended({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many readers"});
    return [] {};
  }
  const auto call =
      StreamCall<Asked, Message>::Make(*this, channel, request, token, std::move(reader));
  return call == nullptr ? std::function<void()>([] {}) : CancelOf(call);
}

ControllerLink::EventChannel* ControllerLink::TakeEventChannel() {
  Place* const place = &Called();
  const MutexLock lock(&mutex_);
  std::erase_if(event_channels_, [place](const std::unique_ptr<EventChannel>& channel) {
    return channel->place != place && channel->streams == 0;
  });
  for (const auto& channel : event_channels_) {
    if (channel->place == place && channel->streams < kStreamsOfConnection) {
      ++channel->streams;
      return channel.get();
    }
  }
  if (event_channels_.size() >= kEventConnectionsMax) {
    return nullptr;
  }
  event_channels_.push_back(std::make_unique<EventChannel>(EventChannel{place, place->make(), 1}));
  return event_channels_.back().get();
}

void ControllerLink::GiveBack(EventChannel* channel) {
  const MutexLock lock(&mutex_);
  --channel->streams;
}

bool ControllerLink::Connected() const {
  bool connected = false;
  for (const std::unique_ptr<Place>& place : places_) {
    connected = place->channel->GetState(true) == GRPC_CHANNEL_READY || connected;
  }
  return connected;
}

std::optional<ControllerLink::CallNumber> ControllerLink::Enter(std::function<void()> cancel) {
  const MutexLock lock(&mutex_);
  if (closed_) {
    return std::nullopt;
  }
  calls_.emplace(++last_call_, std::move(cancel));
  return last_call_;
}

void ControllerLink::Leave(CallNumber call) {
  const MutexLock lock(&mutex_);
  calls_.erase(call);
  changed_.NotifyAll();
}

void ControllerLink::Close() {
  std::vector<std::function<void()>> cancels;
  {
    const MutexLock lock(&mutex_);
    closed_ = true;
    for (const auto& [number, cancel] : calls_) {
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
