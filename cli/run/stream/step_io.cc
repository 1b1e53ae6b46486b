#include "cli/run/stream/step_io.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/value/index_set.h"

namespace muster::cli {
namespace {

// An unfinished line longer than this is written as it is: memory stays bounded.
constexpr std::size_t kLineBytesMax = std::size_t{64} << 10;
constexpr int kSignalBase = 128;

int CodeOf(const wire::StepRankExit& exit) {
  const int code = exit.signal() != 0 ? kSignalBase + exit.signal() : exit.code();
  if (code == 0 && !exit.text().empty()) {
    return 1;  // It could not be started.
  }
  return std::clamp(code, 0, 255);
}

// An older supervisor does not count: it leaves the connection unread instead.
std::uint64_t RoomOf(const wire::StepHello& hello) {
  constexpr std::uint64_t kUncounted = std::uint64_t{1} << 62;
  return hello.input_room() > 0 ? hello.input_room() : kUncounted;
}

}  // namespace

bool SameToken(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

absl::Status StepSession::Take(ConnectionId connection, const wire::StepFrame& frame) {
  const auto node = nodes_.find(connection);
  if (node == nodes_.end()) {
    return TakeHello(connection, frame);
  }
  switch (frame.body_case()) {
    case wire::StepFrame::kOutput:
      TakeOutput(node->second, frame.output());
      return absl::OkStatus();
    case wire::StepFrame::kExit:
      TakeExit(connection, node->second, frame.exit());
      return absl::OkStatus();
    case wire::StepFrame::kDone:
      if (!node->second.done) {
        node->second.done = true;
        ++ended_;
      }
      return absl::OkStatus();
    case wire::StepFrame::kInputClosed:
      node->second.takes_input = false;
      return absl::OkStatus();
    case wire::StepFrame::kInputRoom:
      node->second.input_room += frame.input_room().bytes();
      return absl::OkStatus();
    case wire::StepFrame::kMeet:
      TakeMeet(connection, node->second);
      return absl::OkStatus();
    default:
      return absl::InvalidArgumentError("an unexpected frame");
  }
}

absl::Status StepSession::TakeHello(ConnectionId connection, const wire::StepFrame& frame) {
  const std::optional<std::size_t> component =
      frame.has_hello() ? ComponentOf(frame.hello().token()) : std::nullopt;
  if (!component.has_value()) {
    return absl::PermissionDeniedError("no hello with this step's token");
  }
  nodes_[connection] = Node{.name = EscapeControl(frame.hello().node()),
                            .done = false,
                            .takes_input = true,
                            .input_room = RoomOf(frame.hello()),
                            .component = *component,
                            .index = frame.hello().node_index()};
  ++joined_;
  ranks_ += frame.hello().ranks();
  terminal_ = terminal_ || frame.hello().terminal();
  if (nodes_tell_ && !expected_.has_value() && frame.hello().nodes() > 0) {
    expected_ = frame.hello().nodes();
  }
  meeting_.Joined(connection, *component, frame.hello());
  return absl::OkStatus();
}

std::optional<std::size_t> StepSession::ComponentOf(std::string_view token) const {
  if (SameToken(token, token_)) {
    return 0;
  }
  for (std::size_t i = 0; i < more_tokens_.size(); ++i) {
    if (SameToken(token, more_tokens_[i])) {
      return i + 1;
    }
  }
  return std::nullopt;
}

std::string StepSession::RankName(std::size_t component, std::uint32_t rank) const {
  return more_tokens_.empty() ? absl::StrCat(rank) : absl::StrCat(component, ".", rank);
}

void StepSession::SentInput(ConnectionId connection, std::size_t bytes) {
  const auto node = nodes_.find(connection);
  if (node != nodes_.end()) {
    node->second.input_room -= std::min<std::uint64_t>(node->second.input_room, bytes);
  }
}

void StepSession::Closed(ConnectionId connection) {
  const auto node = nodes_.find(connection);
  if (node == nodes_.end()) {
    return;
  }
  meeting_.Left(connection, !node->second.done);
  if (!node->second.done) {
    lost_.push_back(node->second.name);
    ++ended_;
  }
  nodes_.erase(node);
}

std::string StepSession::LostText() const {
  return absl::StrCat("lost the connection to ", absl::StrJoin(lost_, ","),
                      " before it reported how its ranks ended");
}

std::string StepSession::RanksText() const {
  if (!more_tokens_.empty() || !AllConnected()) {
    return absl::StrCat(ended_ranks_.size(), " of ", ranks_, " ranks have ended, ",
                        AllConnected() ? "the others run" : "others are still to come");
  }
  CpuSet running;
  CpuSet ended;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    (ended_ranks_.count({0, rank}) != 0 ? ended : running).Insert(rank);
  }
  return absl::StrCat(ranks_ == 1 ? "rank " : "ranks ",
                      running.Empty() ? "" : absl::StrCat(running.ToList(), " running"),
                      running.Empty() || ended.Empty() ? "" : ", ",
                      ended.Empty() ? "" : absl::StrCat(ended.ToList(), " ended"));
}

void StepSession::TakeOutput(const Node& node, const wire::StepOutput& output) {
  const RankSource rank{RankName(node.component, output.rank()), node.index, node.name};
  if (label_) {
    WriteLines(rank, output.error(), output.data());
  } else {
    sink_.write(rank, output.error(), output.data());
  }
}

void StepSession::WriteLines(const RankSource& rank, bool error, std::string_view data) {
  Unfinished& unfinished = unfinished_[{rank.rank, error}];
  unfinished.rank = rank;
  std::string& line = unfinished.line;
  std::string whole;
  while (!data.empty()) {
    const std::size_t end = data.find('\n');
    line.append(data.substr(0, end));
    data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
    if (end != std::string_view::npos || line.size() > kLineBytesMax) {
      absl::StrAppend(&whole, rank.rank, ": ", line, "\n");
      line.clear();
    }
  }
  if (!whole.empty()) {
    sink_.write(rank, error, whole);
  }
}

void StepSession::Flush() {
  for (auto& [key, unfinished] : unfinished_) {
    if (!unfinished.line.empty()) {
      sink_.write(unfinished.rank, key.second,
                  absl::StrCat(key.first, ": ", unfinished.line, "\n"));
      unfinished.line.clear();
    }
  }
}

void StepSession::TakeMeet(ConnectionId connection, const Node& node) {
  const std::optional<wire::StepBroken> gone = meeting_.Asked(connection);
  if (!gone.has_value()) {
    return;
  }
  CountExit(gone->exit(), /*fails=*/true);
  if (!std::exchange(failure_told_, true)) {
    sink_.tell(absl::StrCat("rank ", RankName(node.component, gone->exit().rank()), " on ",
                            EscapeControl(gone->node()),
                            ": ended without joining MPI, where others wait for it"));
  }
}

void StepSession::CountExit(const wire::StepRankExit& exit, bool fails) {
  if (aborted_ || exit.with_others()) {
    return;
  }
  // Who left the others waiting has failed, whatever it said itself.
  const int code = std::max(CodeOf(exit), fails ? 1 : 0);
  aborted_ = exit.aborted();
  exit_code_ = aborted_ ? code : std::max(exit_code_, code);
}

void StepSession::TakeExit(ConnectionId connection, const Node& node,
                           const wire::StepRankExit& exit) {
  const int code = CodeOf(exit);
  ended_ranks_.emplace(node.component, exit.rank());
  const bool fails = meeting_.Ended(connection, exit);
  CountExit(exit, fails);
  if ((code == 0 && !fails) || failure_told_ || exit.with_others()) {
    return;
  }
  failure_told_ = true;
  const std::string text = exit.text().empty() ? "" : ": " + EscapeControl(exit.text());
  const std::string who =
      absl::StrCat("rank ", RankName(node.component, exit.rank()), " on ", node.name);
  const std::string more = end_on_bad_exit_ ? "; the others are ended"
                           : fails && exit.unjoined()
                               ? "; it never joined MPI, where others wait for it"
                               : "";
  sink_.tell(exit.signal() != 0 ? absl::StrCat(who, ": ended by signal ", exit.signal(), text, more)
                                : absl::StrCat(who, ": exit code ", code, text, more));
}

}  // namespace muster::cli
