#pragma once

// PMI-1, the text protocol by which MPICH's ranks meet: what a rank says and what it is answered.
//
// A line is "cmd=NAME key=value …"; the protocol is the one of MPICH's simple client. Bytes in,
// bytes out, no sockets. Thread promise: one owner. Invariants: (1) what a rank says is bounded: a
// line by kLineMax, a key by kKeyMax, a value by kValueMax, all that is kept by
// PmiStore::kBytesMax; (2) a line that is no such line ends the session and changes nothing; (3)
// a rank gets what others have put before the last barrier.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::agent {

// What the ranks of a step have put, those of other nodes too.
class PmiStore {
 public:
  static constexpr std::size_t kBytesMax = std::size_t{32} << 20;

  // InvalidArgument or ResourceExhausted: it is not kept.
  absl::Status Put(const std::string& key, const std::string& value);
  [[nodiscard]] const std::string* Get(const std::string& key) const;
  // What was put here since it was last asked, as Merge takes it.
  std::string TakeFresh();
  // Takes in what came from all nodes.
  absl::Status Merge(std::string_view lines);

 private:
  std::map<std::string, std::string> values_;
  std::string fresh_;
  std::size_t bytes_ = 0;
};

struct PmiHandlers {
  std::function<void()> on_join;
  std::function<void()> on_barrier;  // to be answered by BarrierOut
  std::function<void()> on_leave;
  std::function<void(int code)> on_abort;
};

class PmiSession {
 public:
  static constexpr std::size_t kLineMax = 4096;
  static constexpr std::size_t kKeyMax = 64;
  static constexpr std::size_t kValueMax = 1024;

  // `name`: of the step's key space. `store` outlives the session.
  PmiSession(std::string name, std::uint32_t ranks, PmiStore& store, PmiHandlers handlers)
      : name_(std::move(name)), ranks_(ranks), store_(store), handlers_(std::move(handlers)) {}

  // Bytes that the rank sent; what to answer it now. An error: it does not speak the protocol.
  absl::StatusOr<std::string> Take(std::string_view bytes);
  static std::string BarrierOut() { return "cmd=barrier_out\n"; }

 private:
  using Words = std::map<std::string, std::string>;
  absl::StatusOr<std::string> TakeLine(const std::string& line);
  absl::StatusOr<std::string> Answer(const std::string& command, const Words& words);
  [[nodiscard]] std::string AnswerGet(const Words& words) const;

  const std::string name_;
  const std::uint32_t ranks_;
  PmiStore& store_;
  const PmiHandlers handlers_;
  std::string unfinished_;
  bool in_spawn_ = false;  // a request of several lines, which is refused at its end
};

}  // namespace muster::agent
