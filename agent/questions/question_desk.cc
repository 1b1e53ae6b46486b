#include "agent/questions/question_desk.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/questions/image_answer.h"
#include "agent/questions/rank_processes.h"
#include "agent/supervisor/user_space/file_piece.h"
#include "agent/supervisor/user_space/users_directory.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

constexpr std::size_t kProcessBytesMax = std::size_t{1} << 20;
constexpr std::size_t kImageBytesMax = std::size_t{2} << 20;

User UserIn(const wire::User& user) {
  return User{user.uid(), user.gid(), user.name()};
}

absl::Status FillOutput(const Brought& brought, wire::NodeQuestionReply* answer) {
  ASSIGN_OR_RETURN(FilePiece piece, TakePiece(brought));
  wire::OutputAnswer& output = *answer->mutable_output();
  output.set_data(std::move(piece.data));
  output.set_offset(piece.offset);
  output.set_size(piece.size);
  output.set_file(std::move(piece.file));
  output.set_anew(piece.anew);
  output.set_modified(piece.modified);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<QuestionDesk::Work> QuestionDesk::ProcessWork(
    const wire::ProcessQuestion& question) const {
  const AttemptKey key{JobId(question.job()), AttemptNumber(question.attempt())};
  ASSIGN_OR_RETURN(const std::string cgroup, sources_.cgroup_of(key));
  Work work;
  work.user = UserIn(question.user());
  work.work = [key, cgroup, node = sources_.node] {
    return BringBytes(ReadRankProcesses(key, node, cgroup).SerializeAsString());
  };
  work.fill = [this, key](const Brought& brought, wire::NodeQuestionReply* answer) {
    wire::ProcessAnswer& processes = *answer->mutable_processes();
    ASSIGN_OR_RETURN(const std::string bytes, TakeBytes(brought, kProcessBytesMax));
    if (!processes.ParseFromString(bytes)) {
      return absl::InternalError("what its processes say did not come whole");
    }
    processes.set_time(clock_.Now().time_since_epoch().count());
    sources_.add_gpus(key, &processes);
    return absl::OkStatus();
  };
  return work;
}

absl::StatusOr<QuestionDesk::Work> QuestionDesk::ImageWork(
    const wire::ImageQuestion& question) const {
  if (question.has_bring()) {
    return BringWork(question);
  }
  const std::string& base = question.data() ? sources_.staging.cache : sources_.containers.cache;
  if (base.empty()) {
    return absl::FailedPreconditionError(question.data() ? "no copies of data are kept there"
                                                         : "no images are kept there");
  }
  if (question.has_fetch() || question.has_give()) {
    return ProgramWork(question);
  }
  Work work;
  work.user = UserIn(question.user());
  work.work = [question, now = clock_.Now(),
               cache = absl::StrCat(base, "/", question.user().uid())] {
    return BringBytes(AnswerOfImages(question, cache, now).SerializeAsString());
  };
  work.fill = [](const Brought& brought, wire::NodeQuestionReply* answer) {
    ASSIGN_OR_RETURN(const std::string bytes, TakeBytes(brought, kImageBytesMax));
    return answer->mutable_images()->ParseFromString(bytes)
               ? absl::OkStatus()
               : absl::InternalError("what is kept there did not come whole");
  };
  return work;
}

absl::StatusOr<QuestionDesk::Work> QuestionDesk::ProgramWork(
    const wire::ImageQuestion& question) const {
  if (sources_.fetcher.empty() || sources_.containers.runtime.empty()) {
    return absl::FailedPreconditionError("no containers are made there");
  }
  Work work;
  work.user = UserIn(question.user());
  work.directory = sources_.containers.cache;
  work.starts = true;
  work.work = [question, settings = sources_.containers,
               program = sources_.fetcher]() -> absl::StatusOr<Brought> {
    if (question.has_give()) {
      RETURN_IF_ERROR(StartGive(question.give(), settings, program));
      return BringBytes("");
    }
    ASSIGN_OR_RETURN(const std::string wanted, StartFetch(question.fetch(), settings, program));
    return BringBytes(wanted);
  };
  work.fill = [](const Brought& brought, wire::NodeQuestionReply* answer) {
    ASSIGN_OR_RETURN(const std::string bytes, TakeBytes(brought, kImageBytesMax));
    wire::ImageAnswer& images = *answer->mutable_images();
    return bytes.empty() || images.mutable_wanted()->ParseFromString(bytes)
               ? absl::OkStatus()
               : absl::InternalError("what the fetch says did not come whole");
  };
  return work;
}

absl::StatusOr<QuestionDesk::Work> QuestionDesk::BringWork(
    const wire::ImageQuestion& question) const {
  if (sources_.fetcher.empty() || sources_.staging.program.empty()) {
    return absl::FailedPreconditionError("no copies of data are made there");
  }
  if (sources_.ahead == CopiesAhead::kNone) {
    return absl::FailedPreconditionError("copies are made there when jobs start ([staging] ahead)");
  }
  Work work;
  work.user = UserIn(question.user());
  work.directory = sources_.staging.cache;
  work.starts = true;
  const wire::DataFetch& bring = question.bring();
  work.work = [sources = std::vector<std::string>(bring.sources().begin(), bring.sources().end()),
               environment =
                   CopyEnvironment(sources_.network, sources_.ahead,
                                   {bring.environment().begin(), bring.environment().end()},
                                   /*roots=*/geteuid() == 0),
               settings = sources_.staging, ahead = sources_.ahead,
               program = sources_.fetcher]() -> absl::StatusOr<Brought> {
    RETURN_IF_ERROR(StartBring(sources, environment, settings, ahead, program));
    return BringBytes("");
  };
  work.fill = [](const Brought& brought, wire::NodeQuestionReply* answer) {
    answer->mutable_images();
    return TakeBytes(brought, 0).status();
  };
  return work;
}

absl::StatusOr<QuestionDesk::Work> QuestionDesk::WorkFor(const wire::NodeQuestion& question) const {
  if (question.has_processes()) {
    return ProcessWork(question.processes());
  }
  if (question.has_images()) {
    return ImageWork(question.images());
  }
  if (!question.has_output()) {
    return absl::UnimplementedError("a question of a kind that this agent does not know");
  }
  const wire::OutputQuestion& output = question.output();
  PieceWanted wanted;
  wanted.path = output.path();
  wanted.offset = output.offset();
  wanted.file = output.file();
  wanted.tail = output.tail();
  wanted.limit = output.limit();
  return Work{UserIn(output.user()), [wanted] { return BringPiece(wanted); }, FillOutput};
}

void QuestionDesk::Take(const wire::NodeQuestion& question) {
  if (tasks_.size() >= kAtOnceMax) {
    if (waiting_.size() >= kWaitingMax) {
      Answer(question.number(), absl::ResourceExhaustedError("too many questions wait there"), {});
    } else {
      waiting_.push_back(question);
    }
    return;
  }
  absl::StatusOr<Work> work = WorkFor(question);
  absl::Status may = work.ok() ? sources_.may_read_as(work->user.uid) : work.status();
  if (may.ok() && !work->directory.empty()) {
    const std::optional<JobUser> user = UserToFind(work->user);
    may = MakeUsersDirectory(work->directory, user.has_value() ? &*user : nullptr);
  }
  if (may.ok()) {
    Begin(question.number(), *std::move(work));
  } else {
    Answer(question.number(), may, {});
  }
}

void QuestionDesk::Begin(std::uint64_t number, Work work) {
  std::optional<JobUser> user = UserToFind(work.user);
  if (user.has_value() && work.starts && sources_.cgroup_for) {
    user->cgroup = sources_.cgroup_for(user->uid);
  }
  Task& task = tasks_[number];
  task.user = user.has_value() ? std::make_unique<JobUser>(*std::move(user)) : nullptr;
  const auto done = [this, number, fill = std::move(work.fill)](absl::StatusOr<Brought> brought) {
    wire::NodeQuestionReply answer;
    const absl::Status status = brought.ok() ? fill(*brought, &answer) : brought.status();
    Answer(number, status, std::move(answer));
    const Task ended = std::move(tasks_.at(number));
    tasks_.erase(number);
    BeginWaiting();
  };
  task.task = std::make_unique<UserTask>(loop_, task.user.get(), kWithin, work.work, done);
}

void QuestionDesk::BeginWaiting() {
  while (!waiting_.empty() && tasks_.size() < kAtOnceMax) {
    const wire::NodeQuestion next = std::move(waiting_.front());
    waiting_.pop_front();
    Take(next);
  }
}

void QuestionDesk::Answer(std::uint64_t number, const absl::Status& status,
                          wire::NodeQuestionReply answer) const {
  answer.set_number(number);
  if (!status.ok()) {
    answer.Clear();
    answer.set_number(number);
    answer.set_code(static_cast<std::int32_t>(status.code()));
    answer.set_text(AsUtf8(std::string(status.message())));
  }
  sources_.send(answer);
}

}  // namespace muster::agent
