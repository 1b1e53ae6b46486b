#pragma once

// The pipes between the ranks of a watched step and its connection: output up, standard input down.
//
// Bounded both ways: a rank whose output is not taken is not read; input that a rank does not read
// pauses the connection. Thread promise: the loop's thread. The connection outlives these objects.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "agent/supervisor/step/step_connection.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// One output stream of one rank.
class OutputPipe {
 public:
  OutputPipe(EventLoop& loop, StepConnection& connection, std::uint32_t rank, bool error)
      : loop_(loop), connection_(connection), rank_(rank), error_(error) {}
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  ~OutputPipe() { Close(); }

  // Makes the pipe, reads it from now on, and returns the rank's end. `on_closed` is called once,
  // at its end of file.
  absl::StatusOr<UniqueFd> Open(std::function<void()> on_closed);
  // Reads a descriptor of ours instead: a terminal's.
  absl::Status Take(UniqueFd fd, std::function<void()> on_closed);
  // The connection has room again.
  void Resume();
  void Close();
  [[nodiscard]] bool closed() const { return !fd_.valid(); }

 private:
  void Read();

  EventLoop& loop_;
  StepConnection& connection_;
  const std::uint32_t rank_;
  const bool error_;
  UniqueFd fd_;
  bool stopped_ = false;
  std::function<void()> on_closed_;
};

// The standard input of a rank.
class InputPipe {
 public:
  static constexpr std::size_t kQueuedBytesMax = std::size_t{1} << 20;

  // `on_closed` is called once, when the rank takes no more: it has closed its end or has all.
  InputPipe(EventLoop& loop, StepConnection& connection, std::function<void()> on_closed)
      : loop_(loop), connection_(connection), on_closed_(std::move(on_closed)) {}
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;
  ~InputPipe() { Close(); }

  absl::StatusOr<UniqueFd> Open();
  // Writes to a descriptor of ours instead: a terminal's.
  absl::Status Take(UniqueFd fd);
  // Empty: end of file, once what was queued is written.
  void Give(const std::string& data);
  [[nodiscard]] bool full() const { return full_; }
  [[nodiscard]] bool closed() const { return !fd_.valid(); }

 private:
  void Write();
  void SetFull(bool full);
  void Close();
  void End();

  EventLoop& loop_;
  StepConnection& connection_;
  std::function<void()> on_closed_;
  UniqueFd fd_;
  bool full_ = false;
  std::string queued_;
  bool ended_ = false;
};

}  // namespace muster::agent
