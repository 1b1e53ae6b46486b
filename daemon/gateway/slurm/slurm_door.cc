#include "daemon/gateway/slurm/slurm_door.h"

#include <utility>

#include "daemon/gateway/slurm/slurm_paths.h"

namespace muster::daemon::slurm {
namespace {

using StatusOf = unsigned (*)(const grpc::Status& status);

std::string Refused(const std::string& path, const std::string& error) {
  return DumpJson(ErrorAnswer(path, error)) + "\n";
}

// The questions of one request, one after the other.
class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(ControllerLink& link, SlurmCall call, std::string path, std::string token,
         std::shared_ptr<http::ReplyPath> reply, StatusOf status_of)
      : link_(link),
        call_(std::move(call)),
        path_(std::move(path)),
        token_(std::move(token)),
        reply_(std::move(reply)),
        status_of_(status_of) {}

  void AskNext() {
    if (answers_.size() == call_.questions.size()) {
      Finish();
      return;
    }
    const Question& question = call_.questions[answers_.size()];
    link_.Call(*ControllerLink::FindMethod(question.method), *question.request, token_,
               [self = shared_from_this()](const grpc::Status& status,
                                           std::unique_ptr<google::protobuf::Message> answer) {
                 if (!status.ok()) {
                   self->Refuse(status);
                   return;
                 }
                 self->answers_.push_back(std::move(answer));
                 self->AskNext();
               });
  }

 private:
  void Finish() {
    absl::StatusOr<SlurmAnswer> body = call_.answer(answers_);
    if (!body.ok()) {
      Refuse({static_cast<grpc::StatusCode>(body.status().code()),
              std::string(body.status().message())});
      return;
    }
    reply_->Send({200, "application/json", AnswerText(*std::move(body)), {}});
  }
  void Refuse(const grpc::Status& status) {
    reply_->Send(
        {status_of_(status), "application/json", Refused(path_, status.error_message()), {}});
  }

  ControllerLink& link_;
  const SlurmCall call_;
  const std::string path_;
  const std::string token_;
  const std::shared_ptr<http::ReplyPath> reply_;
  const StatusOf status_of_;
  Messages answers_;
};

}  // namespace

void ServeSlurm(ControllerLink& link, const http::Request& request, const std::string& token,
                std::shared_ptr<http::ReplyPath> reply, StatusOf status_of) {
  absl::StatusOr<SlurmCall> call = ReadSlurmCall(request);
  if (!call.ok()) {
    reply->Send(
        {400, "application/json", Refused(request.path, std::string(call.status().message())), {}});
    return;
  }
  std::make_shared<Asking>(link, *std::move(call), request.path, token, std::move(reply), status_of)
      ->AskNext();
}

}  // namespace muster::daemon::slurm
