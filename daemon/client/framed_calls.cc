#include "daemon/client/framed_calls.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "daemon/access/local_context.h"

namespace muster::daemon {
namespace {

// A call and what it is made of, until its reactor has finished. It stands where gRPC's own call
// would: the reactor cannot tell.
class FramedCall final : public grpc::ServerCallbackUnary {
 public:
  static void Begin(ClientService& service, const std::string& method, const std::string& request,
                    FramedDoor::Answer answer) {
    auto* const call = new FramedCall(std::move(answer));
    const grpc::Slice slice(request);
    call->unary_ =
        service.Enter(method, &call->context_, grpc::ByteBuffer(&slice, 1), &call->reply_);
    if (call->unary_ == nullptr) {
      call->answer_(grpc::StatusCode::UNIMPLEMENTED, "no such method: update musterd", "");
      delete call;
      return;
    }
    call->BindReactor(call->unary_);
    call->Part();
  }

  void Finish(grpc::Status status) override {
    status_ = std::move(status);
    Part();
  }
  void SendInitialMetadata() override {}

 private:
  explicit FramedCall(FramedDoor::Answer answer) : answer_(std::move(answer)) {}

  grpc::internal::ServerReactor* reactor() override { return unary_; }
  void CallOnDone() override {}

  [[nodiscard]] std::string Reply() const {
    std::vector<grpc::Slice> slices;
    std::string bytes;
    if (status_.ok() && reply_.Valid() && reply_.Dump(&slices).ok()) {
      for (const grpc::Slice& slice : slices) {
        bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
      }
    }
    return bytes;
  }

  // The second of two: it is begun, and finished, in whichever order.
  void Part() {
    if (--parts_ > 0) {
      return;
    }
    answer_(static_cast<std::uint32_t>(status_.error_code()), status_.error_message(), Reply());
    unary_->OnDone();
    delete this;
  }

  const FramedDoor::Answer answer_;
  LocalContext context_;
  grpc::ByteBuffer reply_;
  grpc::ServerUnaryReactor* unary_ = nullptr;
  grpc::Status status_;
  std::atomic<int> parts_ = 2;
};

// The same for a job's views, until their stream has ended.
class FramedViews final : public grpc::ServerCallbackWriter<wire::WatchJobReply> {
 public:
  static void Begin(ClientService& service, const std::string& request,
                    const std::shared_ptr<FramedDoor::Outlet>& outlet) {
    auto* const call = new FramedViews(outlet);
    wire::WatchJobRequest asked;
    if (!asked.ParseFromString(request)) {
      outlet->WhenGone([] {});
      outlet->End(grpc::StatusCode::INVALID_ARGUMENT, "not a request of this method",
                  [call] { delete call; });
      return;
    }
    call->views_ = service.WatchJob(&call->context_, &asked);
    // Both are called on one thread, the second after the first.
    outlet->WhenGone([call] { call->views_->OnCancel(); });
    call->BindReactor(call->views_);
  }

  void Write(const wire::WatchJobReply* message, grpc::WriteOptions /*options*/) override {
    outlet_->Send(message->SerializeAsString(), [this](bool ok) { views_->OnWriteDone(ok); });
  }
  void WriteAndFinish(const wire::WatchJobReply* message, grpc::WriteOptions /*options*/,
                      grpc::Status status) override {
    outlet_->Send(message->SerializeAsString(), nullptr);
    Finish(std::move(status));
  }
  void Finish(grpc::Status status) override {
    outlet_->End(static_cast<std::uint32_t>(status.error_code()), status.error_message(), [this] {
      views_->OnDone();
      delete this;
    });
  }
  void SendInitialMetadata() override {}

 private:
  explicit FramedViews(std::shared_ptr<FramedDoor::Outlet> outlet) : outlet_(std::move(outlet)) {}

  grpc::internal::ServerReactor* reactor() override { return views_; }
  void CallOnDone() override {}

  const std::shared_ptr<FramedDoor::Outlet> outlet_;
  LocalContext context_;
  StreamHandler::Views* views_ = nullptr;
};

}  // namespace

FramedDoor::Serve FramesFor(ClientService& service) {
  return
      [&service](const std::string& method, const std::string& request, FramedDoor::Answer answer) {
        FramedCall::Begin(service, method, request, std::move(answer));
      };
}

FramedDoor::ServeStream StreamsFor(ClientService& service) {
  return [&service](const std::string& method, const std::string& request,
                    const std::shared_ptr<FramedDoor::Outlet>& outlet) {
    if (method != "WatchJob") {
      return false;
    }
    FramedViews::Begin(service, request, outlet);
    return true;
  };
}

}  // namespace muster::daemon
