#pragma once

// What the ranks of a step here read and write: files, or pipes and a terminal between them and the
// `muster run` that watches.
//
// All that is the user's is opened by a child that is that user. Thread promise: the loop's thread.
// Invariants: (1) ranks that name one file share it; (2) output is closed once: at its end, or when
// nobody waits for it any more; (3) only the first node cuts a file to nothing, and no step of a
// batch job cuts the script's.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/launch/terminal.h"
#include "agent/supervisor/step/rank_pipes.h"
#include "agent/supervisor/step/step_connection.h"
#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_ranks.h"
#include "agent/supervisor/user_space/as_user.h"
#include "agent/supervisor/user_space/output_path.h"
#include "agent/supervisor/user_space/step_opening.h"
#include "scheduler/model/value/output_pattern.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

class RankStreams {
 public:
  struct Handlers {
    // Makes the connection over a socket that reaches the `muster run`.
    std::function<absl::StatusOr<StepConnection*>(UniqueFd socket)> connect;
    std::function<void(absl::Status)> on_opened;
    std::function<void()> on_output_closed;  // of a rank
    // What comes from the client is not for the ranks here alone.
    std::function<bool()> shares_input;
  };

  // REQUIRES: the references outlive it.
  RankStreams(const StepHost& host, const StepPlan& plan, const StepRanks& ranks,
              Handlers handlers);
  RankStreams(const RankStreams&) = delete;
  RankStreams& operator=(const RankStreams&) = delete;

  // Opens what the ranks need of their user's space, and calls on_opened from the loop. `refusal`,
  // why the step may not start, is told to the `muster run`.
  void Open(absl::Status refusal);
  // The `muster run` is being reached.
  [[nodiscard]] bool connecting() const { return task_ != nullptr && !opening_.address.empty(); }
  // The rank's descriptors, for its start.
  absl::Status OpenFor(StepRank* rank);
  // All were started, or could not be.
  void Forked();

  // From the client; "": its end.
  void TypeIn(const std::string& data);
  [[nodiscard]] bool InputFull() const;
  // Rank 0's.
  [[nodiscard]] const std::optional<StepTerminal>& terminal() const { return terminal_; }
  // The client takes output again, or it is lost and all is thrown away.
  void Resume(const StepRank& rank) const;
  // All output was read.
  [[nodiscard]] bool OutputTaken() const;
  void CloseOutput() const;
  // That a file which the rank writes to lies on a full file system; "": it does not.
  std::string FullOutput(const StepRank& rank);

 private:
  [[nodiscard]] PatternValues ValuesOf(const StepRank& rank) const;
  [[nodiscard]] std::string OutputOf(const StepRank& rank) const;
  [[nodiscard]] std::string ErrorOf(const StepRank& rank) const;
  [[nodiscard]] StepOpening Opening() const;
  absl::Status Take(absl::StatusOr<Brought> brought);
  absl::Status TakeFiles(StepRank* rank);
  absl::Status OpenPipes(StepRank* rank);
  absl::Status OpenTerminal(StepRank* rank);
  InputPipe& AddInput();
  void CheckInput() const;

  const StepHost& host_;
  const StepPlan& plan_;
  const StepRanks& ranks_;
  const Handlers handlers_;
  absl::Status refusal_;
  StepOpening opening_;
  std::unique_ptr<UserTask> task_;         // opens that
  std::deque<UniqueFd> inputs_opened_;     // of the ranks in their order
  std::map<std::string, UniqueFd> files_;  // by path
  StepConnection* connection_ = nullptr;
  std::optional<StepTerminal> terminal_;
  std::vector<std::unique_ptr<InputPipe>> inputs_;  // of the ranks that get what the client sends
  bool forked_ = false;
  std::vector<std::string> early_input_;  // what came before the ranks were there
  std::size_t early_bytes_ = 0;
  bool early_paused_ = false;
  bool disk_hangs_ = false;  // it did not say whether it is full
};

}  // namespace muster::agent
