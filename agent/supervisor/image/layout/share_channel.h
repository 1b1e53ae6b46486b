#pragma once

// A connection over which one process gives an image's files to another, which share a token.
//
// The giver calls, the taker listens: all that travels is sealed under the token
// (scheduler/runtime/sealed), so nobody on the network reads an image that its user needed a
// password for. A frame is a byte that says its kind, the length of its text as 4 little-endian
// bytes, and the text. Thread promise: one owner, who waits. Invariants: (1) a frame is whole and
// the other end's; (2) none is larger than kTextBytesMax; (3) no call waits longer than it was
// told.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/runtime/sealed/sealed_stream.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

enum class ShareKind : char {
  kWait = 'w',   // the giver does not have it yet
  kFetch = 'n',  // it will not come: fetch it; others may want it
  kAlone = 'a',  // the same; nobody else can want it
  kFile = 'f',   // the file of that name begins
  kData = 'd',   // more of it
  kEnd = 'e',    // there are no more files
};

struct ShareFrame {
  ShareKind kind = ShareKind::kWait;
  std::string text;
};

class ShareChannel {
 public:
  using Patience = std::chrono::milliseconds;
  static constexpr std::size_t kTextBytesMax = std::size_t{60} << 10;

  // Calls the first of the addresses ("HOST:PORT") that answers.
  static absl::StatusOr<ShareChannel> Call(const std::vector<std::string>& addresses,
                                           const std::string& token, Patience patience);
  // The first caller that has the token; others are sent away. The giver has to say something at
  // once. DeadlineExceeded: there was none.
  static absl::StatusOr<ShareChannel> AwaitCall(const UniqueFd& listener, const std::string& token,
                                                Patience patience);

  // Unavailable: the other end has taken nothing for `patience`, or is gone.
  absl::Status Send(ShareKind kind, std::string_view text, Patience patience);
  // Unavailable: nothing has come for `patience`, or the other end is gone.
  absl::StatusOr<ShareFrame> Receive(Patience patience);

 private:
  ShareChannel(UniqueFd socket, SealedStream stream)
      : socket_(std::move(socket)), stream_(std::move(stream)) {}
  static absl::StatusOr<ShareChannel> Answer(UniqueFd socket, const std::string& token,
                                             Patience patience);
  absl::StatusOr<std::optional<ShareFrame>> TakeFrame();

  UniqueFd socket_;
  SealedStream stream_;
  std::string plain_;  // came, and was not yet asked for
};

}  // namespace muster::agent
