#include "agent/supervisor/step/rank_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/mpi/tree_input.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/step_io.h"

namespace muster::agent {
namespace {

// How long name servers and file systems may take until the step has what it needs of them.
constexpr Duration kOpeningLimit{60000};
// What a rank's end is kept waiting for at most.
constexpr Duration kDiskLimit{2000};

// Of a watched step `choice` says which ranks have the client's input: "" the first, "all" or
// kTreeInput, or a number; others ("none") have none.
bool TakesInput(const std::string& choice, std::uint32_t rank) {
  return choice == "all" || choice == kTreeInput ||
         (choice.empty() ? "0" : choice) == absl::StrCat(rank);
}

}  // namespace

RankStreams::RankStreams(const StepHost& host, const StepPlan& plan, const StepRanks& ranks,
                         Handlers handlers)
    : host_(host), plan_(plan), ranks_(ranks), handlers_(std::move(handlers)) {}

PatternValues RankStreams::ValuesOf(const StepRank& rank) const {
  const LaunchOrder& launch = host_.order.launch;
  PatternValues values;
  values.job = launch.job;
  values.submission = launch.submission;
  values.array_index = launch.array_index;
  values.job_name = launch.spec.name;
  values.node = host_.order.node_name;
  values.rank = rank.placement.rank;
  values.step = plan_.step;
  values.of_step = plan_.step.value() != 0;
  values.node_index = plan_.node_index;
  values.user = launch.spec.user.name;
  return values;
}

std::string RankStreams::OutputOf(const StepRank& rank) const {
  const PatternValues values = ValuesOf(rank);
  const std::string& pattern = plan_.program.stdout_path;
  return ExpandPattern(pattern.empty() ? DefaultOutputPattern(values) : pattern, values);
}

std::string RankStreams::ErrorOf(const StepRank& rank) const {
  const std::string& pattern = plan_.program.stderr_path;
  return pattern.empty() ? OutputOf(rank) : ExpandPattern(pattern, ValuesOf(rank));
}

StepOpening RankStreams::Opening() const {
  const Program& program = plan_.program;
  StepOpening opening;
  opening.address = program.io.address;
  opening.private_tmp = host_.private_tmp;
  opening.refused = !refusal_.ok();
  opening.work_dir = program.work_dir;
  opening.umask = static_cast<mode_t>(program.umask);
  if (!opening.address.empty()) {
    return opening;
  }
  const bool inside = plan_.step.valid() && host_.order.launch.spec.kind == JobKind::kBatch;
  const bool append = program.append_output || inside || plan_.node_index > 0;
  std::set<std::string> outputs;
  for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
    if (!program.stdin_path.empty()) {
      opening.files.push_back({.path = ExpandPattern(program.stdin_path, ValuesOf(*rank))});
    }
    for (const std::string& path : {OutputOf(*rank), ErrorOf(*rank)}) {
      if (outputs.insert(path).second) {
        opening.files.push_back({.path = path, .output = true, .append = append});
      }
    }
  }
  return opening;
}

void RankStreams::Open(absl::Status refusal) {
  refusal_ = std::move(refusal);
  opening_ = Opening();
  // The controller has looked; but what it passes on is the user's.
  if (const absl::Status io =
          opening_.address.empty() ? absl::OkStatus() : CheckStepIo(plan_.program.io);
      !io.ok()) {
    refusal_ = io;
    opening_ = StepOpening{.refused = true};
  }
  task_ = std::make_unique<UserTask>(
      host_.loop, host_.user, kOpeningLimit, [opening = opening_] { return OpenStep(opening); },
      [this](absl::StatusOr<Brought> brought) {
        task_.reset();
        handlers_.on_opened(Take(std::move(brought)));
      },
      host_.private_tmp);
}

absl::Status RankStreams::Take(absl::StatusOr<Brought> brought) {
  const bool watched = !opening_.address.empty();
  if (!brought.ok()) {
    return watched ? absl::UnavailableError(
                         absl::StrCat("cannot reach the `muster run` that waits for it: ",
                                      std::string(brought.status().message())))
                   : brought.status();
  }
  std::vector<UniqueFd>& opened = brought->descriptors;
  // First of all, so that `muster run` hears why nothing else was started.
  if (watched) {
    if (opened.empty()) {
      return absl::InternalError("no connection was brought");
    }
    ASSIGN_OR_RETURN(connection_, handlers_.connect(std::move(opened.front())));
    opened.erase(opened.begin());
  }
  RETURN_IF_ERROR(refusal_);
  if (!brought->text.empty()) {
    return absl::FailedPreconditionError(brought->text);
  }
  if (opened.size() != opening_.files.size()) {
    return absl::InternalError("not all of its files were brought");
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    const StepOpening::File& file = opening_.files[i];
    if (file.output) {
      files_[file.path] = std::move(opened[i]);
    } else {
      inputs_opened_.push_back(std::move(opened[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status RankStreams::OpenFor(StepRank* rank) {
  if (connection_ == nullptr) {
    return TakeFiles(rank);
  }
  const std::uint32_t number = rank->placement.rank;
  rank->output = std::make_unique<OutputPipe>(host_.loop, *connection_, number, false);
  rank->error = std::make_unique<OutputPipe>(host_.loop, *connection_, number, true);
  return plan_.has_terminal() ? OpenTerminal(rank) : OpenPipes(rank);
}

InputPipe& RankStreams::AddInput() {
  inputs_.push_back(
      std::make_unique<InputPipe>(host_.loop, *connection_, [this] { CheckInput(); }));
  return *inputs_.back();
}

absl::Status RankStreams::OpenPipes(StepRank* rank) {
  ASSIGN_OR_RETURN(rank->output_end, rank->output->Open(handlers_.on_output_closed));
  ASSIGN_OR_RETURN(rank->error_end, rank->error->Open(handlers_.on_output_closed));
  if (TakesInput(plan_.program.stdin_path, rank->placement.rank)) {
    ASSIGN_OR_RETURN(rank->input_end, AddInput().Open());
  } else {
    ASSIGN_OR_RETURN(rank->input_end, OpenInput("", ""));
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = rank->output_end.get();
  rank->error_fd = rank->error_end.get();
  return absl::OkStatus();
}

// Rank 0 has the terminal; what others print would only be in its way.
absl::Status RankStreams::OpenTerminal(StepRank* rank) {
  if (rank->placement.rank != 0) {
    rank->input_end.reset(open("/dev/null", O_RDWR | O_CLOEXEC));
  } else {
    ASSIGN_OR_RETURN(terminal_, StepTerminal::Open(plan_.program.terminal, host_.user));
    const auto copy = [this] { return UniqueFd(fcntl(terminal_->ours.get(), F_DUPFD_CLOEXEC, 0)); };
    RETURN_IF_ERROR(rank->output->Take(copy(), handlers_.on_output_closed));
    RETURN_IF_ERROR(AddInput().Take(copy()));
    rank->input_end = std::move(terminal_->theirs);
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = rank->input_fd;
  rank->error_fd = rank->input_fd;
  return absl::OkStatus();
}

absl::Status RankStreams::TakeFiles(StepRank* rank) {
  if (plan_.program.stdin_path.empty()) {
    ASSIGN_OR_RETURN(rank->input_end, OpenInput("", ""));
  } else {
    rank->input_end = std::move(inputs_opened_.front());
    inputs_opened_.pop_front();
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = files_.at(OutputOf(*rank)).get();
  rank->error_fd = files_.at(ErrorOf(*rank)).get();
  return absl::OkStatus();
}

void RankStreams::Forked() {
  inputs_opened_.clear();
  files_.clear();
  forked_ = true;
  for (const std::string& data : std::exchange(early_input_, {})) {
    TypeIn(data);
  }
  early_bytes_ = 0;
  if (std::exchange(early_paused_, false)) {
    connection_->PauseInput(false);
  }
  CheckInput();
}

void RankStreams::TypeIn(const std::string& data) {
  if (!forked_) {
    // A container takes a while to be made, and the client may send before its ranks are there.
    early_input_.push_back(data);
    early_bytes_ += data.size();
    if (early_bytes_ > InputPipe::kQueuedBytesMax && !early_paused_ && connection_ != nullptr) {
      early_paused_ = true;
      connection_->PauseInput(true);
    }
    return;
  }
  for (const std::unique_ptr<InputPipe>& input : inputs_) {
    input->Give(data);
  }
}

bool RankStreams::InputFull() const {
  return early_bytes_ > InputPipe::kQueuedBytesMax ||
         std::any_of(inputs_.begin(), inputs_.end(),
                     [](const std::unique_ptr<InputPipe>& input) { return input->full(); });
}

// What the nodes hand on others may still want, and an attached client may type into a terminal.
void RankStreams::CheckInput() const {
  if (connection_ != nullptr && forked_ && !plan_.has_terminal() && !handlers_.shares_input() &&
      std::all_of(inputs_.begin(), inputs_.end(),
                  [](const std::unique_ptr<InputPipe>& input) { return input->closed(); })) {
    connection_->EndInput();
  }
}

void RankStreams::Resume(const StepRank& rank) const {
  if (rank.output != nullptr) {
    rank.output->Resume();
    rank.error->Resume();
  }
}

bool RankStreams::OutputTaken() const {
  return std::all_of(
      ranks_.all().begin(), ranks_.all().end(), [](const std::unique_ptr<StepRank>& rank) {
        return rank->output == nullptr || (rank->output->closed() && rank->error->closed());
      });
}

void RankStreams::CloseOutput() const {
  for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
    if (rank->output != nullptr) {
      rank->output->Close();
      rank->error->Close();
    }
  }
}

std::string RankStreams::FullOutput(const StepRank& rank) {
  if (!plan_.program.io.address.empty() || disk_hangs_) {
    return "";  // `muster run` writes it, or nobody knows
  }
  const auto look = [work_dir = plan_.program.work_dir,
                     paths = std::vector<std::string>{OutputOf(rank), ErrorOf(rank)}] {
    Brought found;
    for (const std::string& path : paths) {
      if (found.text.empty() && IsOnFullDisk(work_dir, path)) {
        found.text = absl::StrCat("the file system of its output ", path, " is full");
      }
    }
    return absl::StatusOr<Brought>(std::move(found));
  };
  const absl::StatusOr<Brought> found = RunAsUser(host_.user, kDiskLimit, look);
  disk_hangs_ = !found.ok();
  return found.ok() ? found->text : "";
}

}  // namespace muster::agent
