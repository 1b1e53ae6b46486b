#include "daemon/client/client_service.h"

#include <string_view>
#include <utility>

#include "daemon/client/client_methods.h"
#include "daemon/client/outside/page_handler.h"
#include "proto/convert/client_service.h"

namespace muster::daemon {

ClientService::ClientService(Controller& controller, Accounting& accounting, JobStore& store,
                             Setting setting)
    : warnings_(controller.meters(), std::move(setting.certificate), &setting.gate.certificates()),
      methods_(setting.gate),
      metrics_(controller, setting.usage, setting.cluster, methods_.timings(), reader_),
      streams_(controller, accounting, reader_, setting.gate),
      events_(controller, store, accounting, reader_, setting.gate) {
  prices_.Use(setting.prices);
  const Backend backend{controller,
                        accounting,
                        store,
                        setting.usage,
                        warnings_,
                        reader_,
                        std::move(setting.cluster),
                        setting.questions,
                        &prices_};
  ServeCommands(methods_, backend);
  ServeJobQuestions(methods_, backend);
  ServeForecasts(methods_, backend);
  ServeLiveQuestions(methods_, backend);
  ServeImages(methods_, backend);
  ServeSubmissions(methods_, backend);
  ServeHistory(methods_, backend);
  ServeNodeQuestions(methods_, backend);
  ServeHealthQuestions(methods_, backend);
  ServePolicyQuestions(methods_, backend);
  ServeTunings(methods_, backend);
  ServeArchive(methods_, backend, setting.archive);
  ServeTokens(methods_, setting.tokens, reader_);
  methods_.ServeMessages("ReadMetrics", [this](const AnyCall& call, std::string_view request) {
    metrics_.ReadMetrics(call, request);
  });
  ServePictures(methods_, controller, setting.usage);
  methods_.CheckComplete();
  EnterByDoor();
}

void ClientService::EnterByDoor() {
  // As the code does that gRPC generates for one method.
  using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;
  const google::protobuf::ServiceDescriptor& service = ClientServiceType();
  for (int i = 0; i < service.method_count(); ++i) {
    if (IsUnary(*service.method(i))) {
      MarkMethodRawCallback(i, new Handler([this, name = service.method(i)->name()](
                                               Context* context, const grpc::ByteBuffer* request,
                                               grpc::ByteBuffer* reply) {
                              return methods_.Enter(name, context, *request, reply);
                            }));
    }
  }
}

grpc::ServerUnaryReactor* ClientService::Enter(const std::string& method, Context* context,
                                               const grpc::ByteBuffer& request,
                                               grpc::ByteBuffer* reply) {
  return methods_.IsServed(method) ? methods_.Enter(method, context, request, reply) : nullptr;
}

StreamHandler::Submissions* ClientService::SubmitMany(Context* context) {
  return streams_.SubmitMany(methods_.Admit(*context, "SubmitMany"));
}

StreamHandler::Views* ClientService::WatchJob(Context* context,
                                              const wire::WatchJobRequest* request) {
  return streams_.WatchJob(methods_.Admit(*context, "WatchJob"), JobId(request->job()));
}

EventHandler::Reactor* ClientService::WatchEvents(Context* context,
                                                  const wire::WatchEventsRequest* request) {
  return events_.WatchEvents(*context, methods_.Admit(*context, "WatchEvents"), *request);
}

}  // namespace muster::daemon
