// The entry point of libmuster-pmix.so: the C ABI of pmix_api.h over PmixServer. What is thrown
// below ends here, as text.

#include <cstdio>
#include <exception>
#include <string>

#include "agent/supervisor/pmix/pmix_api.h"
#include "agent/supervisor/pmix/pmix_server.h"
#include "agent/supervisor/pmix/pmix_upcalls.h"

namespace muster::agent {
namespace {

void Fill(PmixErrorText* error, const std::string& text) {
  std::snprintf(error->text, sizeof(error->text), "%s", text.c_str());
}

// Runs `body`, and turns what goes wrong into text.
template <typename Body>
int32_t Run(PmixErrorText* error, const Body& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& failure) {
    Fill(error, failure.what());
  }
  return -1;
}

int32_t OpenServer(const PmixServerOptions* options, PmixErrorText* error) {
  return Run(error, [options] { PmixServer::Instance().Open(*options, PmixUpcalls()); });
}

int32_t StartStep(const PmixStepOptions* options, PmixErrorText* error) {
  return Run(error, [options] { PmixServer::Instance().StartStep(*options); });
}

int32_t RankEnv(const char* nspace, uint32_t rank, PmixEnvSink sink, void* sink_context,
                PmixErrorText* error) {
  return Run(error, [=] {
    for (const std::string& assignment : PmixServer::Instance().RankEnv(nspace, rank)) {
      sink(sink_context, assignment.c_str());
    }
  });
}

void EndStep(const char* nspace, uint32_t all_exited) {
  PmixErrorText ignored;
  Run(&ignored, [=] { PmixServer::Instance().EndStep(nspace, all_exited != 0); });
}

// Nothing here can go wrong but memory, whose end is the process's.
void Finish(uint64_t id, uint32_t ok, const char* data, size_t size) {
  PmixErrorText ignored;
  Run(&ignored, [=] { PmixServer::Instance().Answer(id, ok != 0, data, size); });
}

void AskModex(const char* nspace, uint32_t rank, uint64_t id) {
  PmixErrorText ignored;
  Run(&ignored, [=] { PmixServer::AskPublished(nspace, rank, id); });
}

void CloseServer() {
  PmixErrorText ignored;
  Run(&ignored, [] { PmixServer::Instance().Close(); });
}

constexpr PmixApi kApi = {kPmixApiVersion, OpenServer, StartStep, RankEnv,    Finish,
                          Finish,          AskModex,   EndStep,   CloseServer};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PmixApi* muster_pmix_api(uint32_t version) {
  return version == kPmixApiVersion ? &kApi : nullptr;
}

}  // namespace muster::agent
