#include "daemon/gateway/stream/event_hub.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

http::Response EventStreamHead() {
  return {200, "text/event-stream; charset=utf-8", "", {}};
}

absl::StatusOr<std::uint64_t> ReadNumber(const std::string& name, const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= (1ULL << 62)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": not a number: ", text));
  }
  return number;
}

std::string Framed(const wire::EventLine& event) {
  return absl::StrCat("id: ", event.number(), "\nevent: ", event.type(), "\ndata: ", event.json(),
                      "\n\n");
}

}  // namespace

absl::StatusOr<wire::WatchEventsRequest> EventHub::ReadQuery(const http::Request& request) {
  wire::WatchEventsRequest asked;
  asked.set_follow(true);
  for (const auto& [name, value] : request.query) {
    if (name == "user") {
      asked.set_user(value);
      continue;
    }
    if (name != "from" && name != "job") {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": not a filter of events; there are from, job and user"));
    }
    ASSIGN_OR_RETURN(const std::uint64_t number, ReadNumber(name, value));
    name == "from" ? asked.set_from(number) : asked.set_job(number);
  }
  if (!request.last_event_id.empty()) {
    ASSIGN_OR_RETURN(const std::uint64_t last, ReadNumber("Last-Event-ID", request.last_event_id));
    asked.set_from(last + 1);
  }
  return asked;
}

void EventHub::Serve(const wire::WatchEventsRequest& request, const std::string& token,
                     const std::shared_ptr<http::ReplyPath>& reply) {
  auto stream = std::make_shared<Stream>();
  {
    const MutexLock lock(&mutex_);
    stream->key = Key(token, request.job(), request.user());
    if (Join(stream->key, request.from(), reply)) {
      return;
    }
    if (streams_.size() >= kStreamsMax) {
      reply->Send(refuse_({grpc::StatusCode::RESOURCE_EXHAUSTED, "too many readers of events"}));
      return;
    }
    AddReader(*stream, 0, reply);
    streams_.push_back(stream);
    if (request.from() == 0 && !shared_.contains(stream->key)) {
      stream->shared = true;
      shared_[stream->key] = stream;
    }
  }
  std::function<void()> end = link_.Watch(
      request, token,
      {.news = [this, stream](const wire::WatchEventsReply& news,
                              const std::function<void()>& more) { OnNews(stream, news, more); },
       .ended = [this, stream](const grpc::Status& status) { OnEnded(stream, status); }});
  bool left = false;
  {
    const MutexLock lock(&mutex_);
    left = stream->readers.empty();
    stream->end = end;
  }
  if (left) {  // before there was anything to end
    end();
  }
}

// A stream of the same caller's that has what is asked for.
bool EventHub::Join(const Key& key, std::uint64_t from,
                    const std::shared_ptr<http::ReplyPath>& reply) {
  const auto found = shared_.find(key);
  if (found == shared_.end()) {
    return false;
  }
  const StreamPtr& stream = found->second;
  if (from == 0) {
    AddReader(*stream, stream->first + stream->ring.size(), reply);
  } else if (stream->begun && from >= stream->from && from <= stream->next) {
    const auto line = std::lower_bound(
        stream->ring.begin(), stream->ring.end(), from,
        [](const Line& entry, std::uint64_t number) { return entry.number < number; });
    AddReader(*stream, stream->first + static_cast<std::uint64_t>(line - stream->ring.begin()),
              reply);
  } else {
    return false;
  }
  if (stream->begun) {
    Begin(stream, stream->readers.back());
  }
  return true;
}

void EventHub::AddReader(Stream& stream, std::uint64_t at,
                         const std::shared_ptr<http::ReplyPath>& reply) {
  auto reader = std::make_shared<Reader>();
  reader->path = reply;
  reader->at = at;
  stream.readers.push_back(std::move(reader));
}

void EventHub::OnNews(const StreamPtr& stream, const wire::WatchEventsReply& reply,
                      const std::function<void()>& more) {
  std::function<void()> next;
  {
    const MutexLock lock(&mutex_);
    Take(stream, reply);
    stream->more = more;
    stream->paused = true;
    next = NextOf(*stream);
  }
  if (next) {
    next();
  }
}

std::function<void()> EventHub::NextOf(Stream& stream) {
  const bool wanted = stream.paused && (stream.shared || stream.bytes < kPieceBytes);
  stream.paused = stream.paused && !wanted;
  return wanted ? stream.more : nullptr;
}

void EventHub::Take(const StreamPtr& stream, const wire::WatchEventsReply& reply) {
  for (const wire::EventLine& event : reply.events()) {
    stream->ring.push_back({event.number(), Framed(event)});
    stream->bytes += stream->ring.back().text.size();
    stream->held += stream->ring.back().text.size();
  }
  stream->next = reply.next();
  while (stream->shared && stream->bytes > kRingBytes) {
    stream->from = stream->ring.front().number + 1;
    stream->bytes -= stream->ring.front().text.size();
    stream->ring.pop_front();
    ++stream->first;
  }
  if (!stream->begun) {
    stream->begun = true;
    stream->from = reply.next();
    stream->released = stream->first + stream->ring.size();
    const std::vector<std::shared_ptr<Reader>> readers = stream->readers;
    for (const auto& reader : readers) {
      Begin(stream, reader);
    }
    return;
  }
  // What fills much of the ring does not wait: it would push out what nobody has had.
  if (stream->readers.size() <= kReadersAtOnce || stream->held > kRingBytes / 4) {
    stream->turn = 0;
    ReleaseStream(stream, stream->readers.size());
  }
}

void EventHub::ReleaseStream(const StreamPtr& stream, std::size_t most) {
  stream->released = stream->first + stream->ring.size();
  const std::size_t begin = std::min(stream->turn, stream->readers.size());
  const std::size_t end = begin + std::min(most, stream->readers.size() - begin);
  const std::vector<std::shared_ptr<Reader>> readers(
      stream->readers.begin() + static_cast<std::ptrdiff_t>(begin),
      stream->readers.begin() + static_cast<std::ptrdiff_t>(end));
  stream->turn = end < stream->readers.size() ? end : 0;
  if (begin == 0) {  // what comes from here on waits for the next round, at the latest
    stream->held = 0;
  }
  SharedPiece piece;
  for (const auto& reader : readers) {
    Pump(stream, reader, piece);
  }
}

void EventHub::Release() {
  const MutexLock lock(&mutex_);
  const std::vector<StreamPtr> streams = streams_;
  for (const StreamPtr& stream : streams) {
    if (stream->held > 0 || stream->turn > 0) {
      ReleaseStream(stream, kReadersARelease);
    }
  }
}

void EventHub::OnEnded(const StreamPtr& stream, const grpc::Status& status) {
  const MutexLock lock(&mutex_);
  Forget(stream);
  for (const auto& reader : std::exchange(stream->readers, {})) {
    if (!stream->begun) {
      reader->path->Send(refuse_(status));
    } else {
      reader->path->End();  // he comes back with the number of his last event
    }
  }
}

void EventHub::Begin(const StreamPtr& stream, const std::shared_ptr<Reader>& reader) {
  reader->path->BeginStream(EventStreamHead());
  const std::uint64_t offset = reader->at - stream->first;
  const std::uint64_t next =
      offset < stream->ring.size() ? stream->ring[offset].number : stream->next;
  Send(stream, reader,
       std::make_shared<const std::string>(
           absl::StrCat("retry: 2000\nid: ", next == 0 ? 0 : next - 1, "\n\n")));
}

void EventHub::Send(const StreamPtr& stream, const std::shared_ptr<Reader>& reader,
                    http::ReplyPath::Piece text) {
  reader->writing = reader->heard = true;
  reader->path->Write(std::move(text),
                      [this, stream, weak = std::weak_ptr<Reader>(reader)](bool alive) {
                        if (const std::shared_ptr<Reader> still = weak.lock()) {
                          OnWritten(stream, still, alive);
                        }
                      });
}

void EventHub::Pump(const StreamPtr& stream, const std::shared_ptr<Reader>& reader,
                    SharedPiece& piece) {
  if (reader->at < stream->first) {
    reader->path->End();  // too slow; OnWritten tells that it has gone
    return;
  }
  if (reader->writing) {
    return;
  }
  if (reader->at >= stream->released) {
    return;
  }
  if (piece.text == nullptr || piece.at != reader->at) {
    std::string text;
    piece.at = piece.end = reader->at;
    for (; piece.end < stream->released && text.size() < kPieceBytes; ++piece.end) {
      text += stream->ring[piece.end - stream->first].text;
    }
    piece.text = std::make_shared<const std::string>(std::move(text));
  }
  reader->at = piece.end;
  while (!stream->shared && stream->first < reader->at) {  // he is its only one
    stream->from = stream->ring.front().number + 1;
    stream->bytes -= stream->ring.front().text.size();
    stream->ring.pop_front();
    ++stream->first;
  }
  Send(stream, reader, piece.text);
}

void EventHub::OnWritten(const StreamPtr& stream, const std::shared_ptr<Reader>& reader,
                         bool alive) {
  std::function<void()> then;
  {
    const MutexLock lock(&mutex_);
    reader->writing = false;
    if (alive) {
      SharedPiece piece;
      Pump(stream, reader, piece);
      then = NextOf(*stream);
    } else {
      then = Leave(stream, reader);
    }
  }
  if (then) {
    then();
  }
}

std::function<void()> EventHub::Leave(const StreamPtr& stream,
                                      const std::shared_ptr<Reader>& reader) {
  const auto found = std::find(stream->readers.begin(), stream->readers.end(), reader);
  if (found != stream->readers.end()) {
    if (static_cast<std::size_t>(found - stream->readers.begin()) < stream->turn) {
      --stream->turn;  // or the round would leave one out
      stream->held = std::max<std::size_t>(stream->held, 1);  // nor is it over when none is before
    }
    stream->readers.erase(found);
  }
  if (!stream->readers.empty()) {
    return nullptr;
  }
  Forget(stream);
  return stream->end;
}

void EventHub::Forget(const StreamPtr& stream) {
  std::erase(streams_, stream);
  const auto found = shared_.find(stream->key);
  if (found != shared_.end() && found->second == stream) {
    shared_.erase(found);
  }
}

void EventHub::Beat() {
  static const auto kNothing = std::make_shared<const std::string>(":\n\n");
  const MutexLock lock(&mutex_);
  for (const StreamPtr& stream : streams_) {
    for (const auto& reader : stream->readers) {
      if (stream->begun && !reader->writing && !std::exchange(reader->heard, false)) {
        Send(stream, reader, kNothing);
        reader->heard = false;
      }
    }
  }
}

}  // namespace muster::daemon
