#include "daemon/client/framed_calls.h"

#include <atomic>
#include <map>
#include <utility>

#include "daemon/access/local_context.h"

namespace muster::daemon {
namespace {

using Service = ClientService;

// A call and what it is made of, until its reactor has finished. It stands where gRPC's own call
// would: the reactor cannot tell.
template <class Request, class Reply>
class FramedCall final : public grpc::ServerCallbackUnary {
 public:
  using Method = Service::Unary* (Service::*)(Service::Context*, const Request*, Reply*);

  static void Begin(Service& service, Method method, const std::string& request,
                    FramedDoor::Answer answer) {
    auto* const call = new FramedCall(std::move(answer));
    if (!call->request_.ParseFromString(request)) {
      call->answer_(grpc::StatusCode::INTERNAL, "the request is no message of this method", "");
      delete call;
      return;
    }
    call->unary_ = (service.*method)(&call->context_, &call->request_, &call->reply_);
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

  // The second of two: it is begun, and finished, in whichever order.
  void Part() {
    if (--parts_ > 0) {
      return;
    }
    answer_(static_cast<std::uint32_t>(status_.error_code()), status_.error_message(),
            status_.ok() ? reply_.SerializeAsString() : std::string());
    unary_->OnDone();
    delete this;
  }

  const FramedDoor::Answer answer_;
  LocalContext context_;
  Request request_;
  Reply reply_;
  Service::Unary* unary_ = nullptr;
  grpc::Status status_;
  std::atomic<int> parts_ = 2;
};

using Begin = std::function<void(Service&, const std::string&, FramedDoor::Answer)>;

template <class Request, class Reply>
Begin By(Service::Unary* (Service::*method)(Service::Context*, const Request*, Reply*)) {
  return [method](Service& service, const std::string& request, FramedDoor::Answer answer) {
    FramedCall<Request, Reply>::Begin(service, method, request, std::move(answer));
  };
}

const std::map<std::string, Begin>& Methods() {
  static const std::map<std::string, Begin> methods = {
      {"Ping", By(&Service::Ping)},
      {"Submit", By(&Service::Submit)},
      {"TestSubmit", By(&Service::TestSubmit)},
      {"Cancel", By(&Service::Cancel)},
      {"Hold", By(&Service::Hold)},
      {"StartStep", By(&Service::StartStep)},
      {"Signal", By(&Service::Signal)},
      {"Attach", By(&Service::Attach)},
      {"ListJobs", By(&Service::ListJobs)},
      {"ListHistory", By(&Service::ListHistory)},
      {"ShowJob", By(&Service::ShowJob)},
      {"Explain", By(&Service::Explain)},
      {"ListNodes", By(&Service::ListNodes)},
      {"Drain", By(&Service::Drain)},
      {"CheckHealth", By(&Service::CheckHealth)},
      {"ListHealth", By(&Service::ListHealth)},
      {"PutTuning", By(&Service::PutTuning)},
      {"ListTunings", By(&Service::ListTunings)},
      {"Requeue", By(&Service::Requeue)},
      {"Suspend", By(&Service::Suspend)},
      {"Update", By(&Service::Update)},
      {"ChangePolicy", By(&Service::ChangePolicy)},
      {"ListPolicy", By(&Service::ListPolicy)},
      {"PolicyHistory", By(&Service::PolicyHistory)},
      {"ListShares", By(&Service::ListShares)},
      {"ReadMetrics", By(&Service::ReadMetrics)},
      {"CreateToken", By(&Service::CreateToken)},
      {"ListTokens", By(&Service::ListTokens)},
      {"RevokeToken", By(&Service::RevokeToken)},
  };
  return methods;
}

}  // namespace

void ServeFrame(ClientService& service, const std::string& method, const std::string& request,
                FramedDoor::Answer answer) {
  const auto found = Methods().find(method);
  if (found == Methods().end()) {
    answer(grpc::StatusCode::UNIMPLEMENTED, "no such method: update musterd", "");
    return;
  }
  found->second(service, request, std::move(answer));
}

std::vector<std::string> FramedMethods() {
  std::vector<std::string> names;
  for (const auto& [name, begin] : Methods()) {
    names.push_back(name);
  }
  return names;
}

}  // namespace muster::daemon
