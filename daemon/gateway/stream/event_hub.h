#pragma once

// Events of the controller to many readers over HTTP, as server-sent events.
//
// Invariants: (1) readers share a stream only when token and filter are the same; (2) a ring holds
// at most kRingBytes, and a reader has one piece under way; (3) a reader that falls out of a shared
// ring is cut off; one alone never is: of his stream no more is read than he takes, so that whoever
// comes back far behind gets on; (4) a stream without readers ends; (5) what came for more than
// kReadersAtOnce goes out when Release is called, in one piece for each, and to kReadersARelease of
// them at most, so that a thousand readers cost no more than that and hold no other caller up.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/gateway/http/message.h"
#include "daemon/gateway/link/controller_link.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class EventHub {
 public:
  static constexpr std::size_t kRingBytes = std::size_t{1} << 20;
  static constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
  static constexpr std::size_t kStreamsMax = 512;
  static constexpr std::size_t kReadersAtOnce = 32;
  static constexpr std::size_t kReadersARelease = 256;
  // How often Release is wanted.
  static constexpr std::chrono::milliseconds kReleaseEvery{250};

  // How a failed call is answered.
  using Refuse = std::function<http::Response(const grpc::Status& status)>;
  // `link` outlives it, and is closed before it goes.
  EventHub(ControllerLink& link, Refuse refuse) : link_(link), refuse_(std::move(refuse)) {}

  // The request for events that a query and "Last-Event-ID" make; InvalidArgument says what is
  // wrong in them.
  static absl::StatusOr<wire::WatchEventsRequest> ReadQuery(const http::Request& request);
  // Answers with events until the reader goes, or is cut off.
  void Serve(const wire::WatchEventsRequest& request, const std::string& token,
             const std::shared_ptr<http::ReplyPath>& reply);
  // Sends what waits for it.
  void Release();
  // Something to all who heard nothing since the last time, so that the dead are found.
  void Beat();

 private:
  // Token, job, user.
  using Key = std::tuple<std::string, std::uint64_t, std::string>;
  struct Line {
    std::uint64_t number;
    std::string text;
  };
  struct Reader {
    std::shared_ptr<http::ReplyPath> path;
    std::uint64_t at = 0;  // the place in the stream of the next line for it
    bool writing = false;
    bool heard = false;  // since the last beat
  };
  struct Stream {
    Key key;
    bool shared = false;
    bool begun = false;
    std::uint64_t from = 0;      // the first number that its lines could have
    std::uint64_t next = 0;      // the first that none of them has
    std::uint64_t first = 0;     // the place of the ring's first line
    std::uint64_t released = 0;  // the place of the first line that goes to no reader yet
    std::size_t held = 0;        // bytes that some reader has not been given
    std::size_t turn = 0;        // whose of the readers comes next; 0: a round is over
    std::deque<Line> ring;
    std::size_t bytes = 0;
    std::vector<std::shared_ptr<Reader>> readers;
    std::function<void()> end;
    std::function<void()> more;  // has the next message read
    bool paused = false;         // it is not read yet
  };
  using StreamPtr = std::shared_ptr<Stream>;
  // What readers at the same place of a stream get.
  struct SharedPiece {
    std::uint64_t at = 0;
    std::uint64_t end = 0;
    http::ReplyPath::Piece text;
  };

  bool Join(const Key& key, std::uint64_t from, const std::shared_ptr<http::ReplyPath>& reply)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void AddReader(Stream& stream, std::uint64_t at, const std::shared_ptr<http::ReplyPath>& reply)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void OnNews(const StreamPtr& stream, const wire::WatchEventsReply& reply,
              const std::function<void()>& more);
  void Take(const StreamPtr& stream, const wire::WatchEventsReply& reply)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What has the next message read, if it is time for one.
  static std::function<void()> NextOf(Stream& stream);
  void OnEnded(const StreamPtr& stream, const grpc::Status& status);
  void OnWritten(const StreamPtr& stream, const std::shared_ptr<Reader>& reader, bool alive);
  void Begin(const StreamPtr& stream, const std::shared_ptr<Reader>& reader)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Send(const StreamPtr& stream, const std::shared_ptr<Reader>& reader,
            http::ReplyPath::Piece text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // To `most` of its readers, from where it ended the last time.
  void ReleaseStream(const StreamPtr& stream, std::size_t most)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `piece` is what the last got, for whoever is at the same place.
  void Pump(const StreamPtr& stream, const std::shared_ptr<Reader>& reader, SharedPiece& piece)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What ends the stream, when the reader was its last.
  std::function<void()> Leave(const StreamPtr& stream, const std::shared_ptr<Reader>& reader)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Forget(const StreamPtr& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  ControllerLink& link_;
  const Refuse refuse_;
  Mutex mutex_;
  std::map<Key, StreamPtr> shared_ ABSL_GUARDED_BY(mutex_);
  std::vector<StreamPtr> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
