#pragma once

// The messages that one call in plain frames gives, one after the other, for who waits for them
// with other things.
//
// Thread promise: one owner. Invariants: nothing here waits; after the last word nothing more is
// read.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// What each side's first bytes on a connection are.
inline constexpr std::string_view kFramesMagic = "MUSTER1\n";
// No answer has more.
inline constexpr std::size_t kFramedAnswerBytesMax = std::size_t{256} << 20U;

class FramedStream {
 public:
  // Of a connection on which the call was made; `greeted`: it has answered one before.
  FramedStream(UniqueFd fd, bool greeted) : fd_(std::move(fd)), greeted_(greeted) {}

  // Readable when there is something to Read().
  [[nodiscard]] int fd() const { return fd_.get(); }

  enum class State : std::uint8_t {
    kMore,     // more may come
    kEnded,    // by the controller, with code() and text()
    kBroken,   // the connection ended
    kForeign,  // who listens there speaks no frames
  };
  // Gives `take` the messages that have come.
  State Read(const std::function<void(std::string_view message)>& take);

  [[nodiscard]] std::uint32_t code() const { return code_; }  // of gRPC; 0: done
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  State TakeFrames(const std::function<void(std::string_view message)>& take);

  UniqueFd fd_;
  bool greeted_;
  std::string bytes_;  // that are not a whole frame yet
  std::uint32_t code_ = 0;
  std::string text_;
};

}  // namespace muster::cli
