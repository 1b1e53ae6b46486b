#pragma once

// What serves each method of clients: one function a subject, which gives the door its functions.
//
// Thread promise: gRPC's threads call in and never wait; answers come from the store's writer
// thread or, when they are long, from `reader`. Invariants: an answer leaves only when what it says
// is durable; a job that ends while it is asked about is in the answer, as a live or as an ended
// one.

#include <memory>
#include <string>
#include <utility>

#include "daemon/access/methods.h"
#include "daemon/agents/live_usage.h"
#include "daemon/agents/node_questions.h"
#include "daemon/alerts/warnings.h"
#include "daemon/client/views/job_costs.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"

namespace muster::daemon {

inline constexpr const char* kCommentNote = "Comment";

// What the functions work with; outlives their answers.
struct Backend {
  Controller& controller;
  Accounting& accounting;
  JobStore& store;
  const LiveUsage& usage;
  const ControllerWarnings& warnings;
  Worker& reader;
  std::string cluster;
  NodeQuestions* questions = nullptr;  // of the agents; null: none is asked
  const PriceBook* prices = nullptr;   // null: nothing has a price

  [[nodiscard]] std::shared_ptr<const Prices> PricesNow() const {
    return prices == nullptr ? std::make_shared<const Prices>() : prices->Now();
  }
};

// Has `answer(backend, call, request)` serve Request's method, at once or when it is its user's
// turn.
template <ClientRequest Request, class Answer>
void AnswerAtOnce(Methods& methods, const Backend& backend, Answer answer) {
  methods.Serve<Request>([backend, answer](const Call<Request>& call, Request request) {
    answer(backend, call, std::move(request));
  });
}
template <ClientRequest Request, class Answer>
void AnswerInTurn(Methods& methods, const Backend& backend, Answer answer) {
  methods.ServeInTurn<Request>([backend, answer](const Call<Request>& call, Request request) {
    answer(backend, call, std::move(request));
  });
}

// live_answers.cc: asks a node, where this controller asks any; and the user on whose behalf.
void AskNode(const Backend& backend, NodeQuestions::Question question,
             const NodeQuestions::Answered& answered);
void TellUser(const User& user, wire::User* told);

// client_commands.cc: what changes the state, by the list in scheduler/model/change/command.h.
void ServeCommands(Methods& methods, const Backend& backend);
// forecast_answers.cc: what would become of a job.
void ServeForecasts(Methods& methods, const Backend& backend);
// job_answers.cc: jobs shown, noted and explained.
void ServeJobQuestions(Methods& methods, const Backend& backend);
// history_answers.cc: jobs that have ended, and what jobs held and used.
void ServeHistory(Methods& methods, const Backend& backend);
// submission_answers.cc: what jobs were submitted with.
void ServeSubmissions(Methods& methods, const Backend& backend);
// live_answers.cc: what the nodes say of jobs' output and processes.
void ServeLiveQuestions(Methods& methods, const Backend& backend);
// image_answers.cc: the images that nodes keep.
void ServeImages(Methods& methods, const Backend& backend);
// node_answers.cc: the cluster and its nodes.
void ServeNodeQuestions(Methods& methods, const Backend& backend);
// health_answers.cc: the health of nodes, and what needs attention.
void ServeHealthQuestions(Methods& methods, const Backend& backend);
// policy_answers.cc: policy and the shares that follow from it.
void ServePolicyQuestions(Methods& methods, const Backend& backend);
// archive_answers.cc: the archive in `directory`, and jobs that come back from it.
void ServeArchive(Methods& methods, const Backend& backend, const std::string& directory);
// tunings.cc: tuned kernels, kept beside the state.
void ServeTunings(Methods& methods, const Backend& backend);

}  // namespace muster::daemon
