#include "agent/link/link_stream.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/create_channel_posix.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "agent/link/own_controller.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate.h"
#include "scheduler/runtime/identity/private_file.h"

namespace muster::agent {
namespace {

// The largest order is a batch script with its environment; the largest report a step's exits.
constexpr int kMessageBytesMax = 16 << 20;
constexpr int kConnectMs = 5000;
// Over a network a silent peer is found within 30 s. A unix socket's end is seen at once, and a
// controller that is merely stopped keeps its link.
constexpr int kKeepaliveEveryMs = 20000;
constexpr int kKeepaliveAnswerMs = 10000;

grpc::ChannelArguments CommonArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
  arguments.SetMaxSendMessageSize(kMessageBytesMax);
  return arguments;
}

// Over a socket of our own user's controller: gRPC is given the connection whose other end we know.
absl::StatusOr<std::shared_ptr<grpc::Channel>> OwnChannel(const LinkStream::Target& target) {
  ASSIGN_OR_RETURN(UniqueFd connection,
                   ConnectToOwnController(UnixPath(target.address), target.node));
  return grpc::CreateCustomInsecureChannelFromFd(kControllerName, connection.release(),
                                                 CommonArguments());
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeCredentials(
    const AgentTlsFiles& tls) {
  grpc::SslCredentialsOptions options;
  ASSIGN_OR_RETURN(options.pem_root_certs, ReadFile(tls.authority));
  ASSIGN_OR_RETURN(options.pem_private_key, ReadPrivateFile(tls.key));
  ASSIGN_OR_RETURN(options.pem_cert_chain, ReadFile(tls.certificate));
  return grpc::SslCredentials(options);
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> LinkStream::MakeChannel(const Target& target) {
  if (target.tls.empty()) {
    return OwnChannel(target);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ChannelCredentials> credentials,
                   MakeCredentials(target.tls));
  grpc::ChannelArguments arguments = CommonArguments();
  // A channel of our own for each stream: when to connect again is the link's decision alone.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Whatever its address: only a controller's certificate has this name.
  arguments.SetString(GRPC_SSL_TARGET_NAME_OVERRIDE_ARG, kControllerName);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveEveryMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveAnswerMs);
  return grpc::CreateCustomChannel(target.address, credentials, arguments);
}

LinkStream::LinkStream(EventLoop& loop, Owner* owner, std::shared_ptr<grpc::Channel> channel,
                       std::size_t waiting_max)
    : loop_(loop),
      owner_(owner),
      waiting_max_(waiting_max),
      channel_(std::move(channel)),
      stub_(wire::AgentLink::NewStub(channel_)) {}

void LinkStream::Open(wire::AgentMessage first) {
  stub_->async()->Attach(&context_, this);
  AddHold();
  {
    const MutexLock lock(&mutex_);
    outgoing_.push_back(std::move(first));
    StartWrite(&outgoing_.front());
  }
  StartRead(&incoming_);
  StartCall();
}

std::string LinkStream::PeerCertificate() const {
  const auto auth = context_.auth_context();
  if (auth == nullptr) {
    return "";
  }
  const std::vector<grpc::string_ref> values =
      auth->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return values.empty() ? "" : std::string(values.front().data(), values.front().size());
}

bool LinkStream::Write(const wire::AgentMessage& message) {
  const wire::AgentMessage* next = nullptr;
  {
    const MutexLock lock(&mutex_);
    if (!writable_ || outgoing_.size() >= waiting_max_) {
      return false;
    }
    outgoing_.push_back(message);
    if (outgoing_.size() == 1) {
      next = &outgoing_.front();  // a deque's elements stay where they are
    }
  }
  if (next != nullptr) {
    StartWrite(next);
  }
  return true;
}

void LinkStream::OnWriteDone(bool ok) {
  const wire::AgentMessage* next = nullptr;
  bool drained = false;
  {
    const MutexLock lock(&mutex_);
    outgoing_.pop_front();
    if (!ok) {
      writable_ = false;  // the read fails too, and ends the stream
      outgoing_.clear();
      return;
    }
    if (!outgoing_.empty()) {
      next = &outgoing_.front();
    }
    drained = outgoing_.size() == waiting_max_ / 2;
  }
  if (next != nullptr) {
    StartWrite(next);
  }
  if (drained) {
    loop_.Post([self = shared_from_this()] {
      if (self->owner_ != nullptr) {
        self->owner_->Drained();
      }
    });
  }
}

void LinkStream::OnReadDone(bool ok) {
  loop_.Post([self = shared_from_this(), ok] { self->TakeRead(ok); });
}

void LinkStream::TakeRead(bool ok) {
  if (!ok) {
    Release();
    return;
  }
  if (owner_ != nullptr) {
    owner_->Handle(incoming_);
  }
  if (!released_) {
    StartRead(&incoming_);
  }
}

void LinkStream::Release() {
  if (released_) {
    return;
  }
  released_ = true;
  {
    const MutexLock lock(&mutex_);
    writable_ = false;
  }
  RemoveHold();
}

void LinkStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<Ending> ending = ending_;
  loop_.Post([self = shared_from_this(),
              why = absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                                 status.error_message())] {
    if (self->owner_ != nullptr) {
      self->owner_->Lost(why);
    }
  });
  // From here on this object may be gone.
  const MutexLock lock(&ending->mutex);
  ending->done = true;
  ending->changed.NotifyAll();
}

void LinkStream::CloseAndWait() {
  Detach();
  context_.TryCancel();
  Release();
  const MutexLock lock(&ending_->mutex);
  while (!ending_->done) {
    ending_->changed.Wait(&ending_->mutex);
  }
}

}  // namespace muster::agent
