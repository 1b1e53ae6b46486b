#pragma once

// One connection: reads requests, has them answered, writes the answers, in order, one at a time.
//
// For server.cc and its tests of the parts alone. Thread promise: everything happens on the
// executor of the stream; a reply path hands over to it. Invariants: (1) every wait has an end; (2)
// what was not read whole ends the connection after its answer.

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "daemon/gateway/http/head.h"
#include "daemon/gateway/http/message.h"
#include "daemon/gateway/http/source_budget.h"

namespace muster::daemon::http {

namespace asio = boost::asio;
namespace beast = boost::beast;

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;
using Error = beast::error_code;

// What the sessions of one server share.
struct SessionWorld {
  const ServerLimits limits;
  const Handlers handlers;
  SourceBudget sources;
};

template <class Stream>
class Session final : public std::enable_shared_from_this<Session<Stream>> {
 public:
  Session(Stream stream, SessionWorld& world, std::string source)
      : stream_(std::move(stream)),
        world_(world),
        source_(std::move(source)),
        buffer_(world.limits.header_bytes + kBeyondHeader) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    GiveBytes();
    world_.sources.Leave(source_);
  }

  void Begin() {
    beast::get_lowest_layer(stream_).expires_after(world_.limits.header_time);
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](Error error) {
                                if (!error) {
                                  self->ReadHead(self->world_.limits.header_time);
                                }
                              });
    } else {
      ReadHead(world_.limits.header_time);
    }
  }

 private:
  static constexpr std::size_t kBeyondHeader = 16 << 10;  // of a body, what came with the head
  static constexpr std::chrono::seconds kDrainTime{2};

  // The answer to one request, from any thread.
  class Path final : public ReplyPath {
   public:
    explicit Path(std::shared_ptr<Session> session) : session_(std::move(session)) {}
    Path(const Path&) = delete;
    Path& operator=(const Path&) = delete;
    ~Path() override {
      if (!answered_) {
        Path::Send(Problem(500, "INTERNAL", "the gateway has no answer to this"));
      } else if (streams_) {
        Path::End();
      }
    }
    void Send(Response response) override {
      answered_ = true;
      Post([response = std::move(response)](Session& session) mutable {
        session.Answer(std::move(response));
      });
    }
    void BeginStream(Response head) override {
      answered_ = streams_ = true;
      Post([head = std::move(head)](Session& session) { session.BeginStream(head); });
    }
    void Write(Piece piece, std::function<void(bool)> done) override {
      Post([piece = std::move(piece), done = std::move(done)](Session& session) mutable {
        session.WritePiece(std::move(piece), std::move(done));
      });
    }
    void End() override {
      Post([](Session& session) { session.Close(); });
    }

   private:
    template <class Work>
    void Post(Work work) {
      asio::post(session_->stream_.get_executor(),
                 [session = session_, work = std::move(work)]() mutable { work(*session); });
    }
    const std::shared_ptr<Session> session_;
    bool answered_ = false;
    bool streams_ = false;
  };

  void ReadHead(std::chrono::seconds time) {
    parser_.emplace();
    parser_->header_limit(world_.limits.header_bytes);
    parser_->body_limit(world_.limits.body_bytes);
    request_ = Request();
    keep_ = false;
    beast::get_lowest_layer(stream_).expires_after(time);
    beast::http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](Error error, std::size_t) { self->OnHead(error); });
  }

  void OnHead(Error error) {
    if (error) {
      if (std::optional<Response> response = AnswerToBadHead(error)) {
        Answer(*std::move(response));
      }
      return;  // without an answer the last reference goes, and the connection with it
    }
    head_only_ = parser_->get().method() == beast::http::verb::head;
    std::optional<Response> response;
    if (!world_.sources.TakeRequest(source_)) {
      response = Problem(429, "RESOURCE_EXHAUSTED", "too many requests from your address");
      response->headers.emplace_back("Retry-After", "1");
    }
    if (!response.has_value()) {
      response = ReadHeadOf(parser_->get(), world_.limits, request_);
    }
    if (!response.has_value()) {
      response = world_.handlers.screen(request_);
      keep_ = request_.body_bytes == 0 && parser_->get().keep_alive();
    }
    if (!response.has_value() && request_.body_bytes > world_.limits.stranger_bytes) {
      Judge();
      return;
    }
    OnVerdict(std::move(response));
  }

  // The socket rests meanwhile: whoever judges answers within a time of his own.
  void Judge() {
    beast::get_lowest_layer(stream_).expires_never();
    world_.handlers.judge(request_, [self =
                                         this->shared_from_this()](std::optional<Response> answer) {
      asio::post(self->stream_.get_executor(), [self, answer = std::move(answer)]() mutable {
        if (!answer.has_value() &&
            !self->world_.sources.TakeBytes(self->source_, self->request_.body_bytes)) {
          answer = Problem(429, "RESOURCE_EXHAUSTED", "too much is being read from your address");
          answer->headers.emplace_back("Retry-After", "1");
        } else if (!answer.has_value()) {
          self->taken_bytes_ = self->request_.body_bytes;
        }
        self->OnVerdict(std::move(answer));
      });
    });
  }

  void GiveBytes() { world_.sources.GiveBytes(source_, std::exchange(taken_bytes_, 0)); }

  void OnVerdict(std::optional<Response> response) {
    if (response.has_value()) {
      Answer(*std::move(response));
      return;
    }
    keep_ = parser_->get().keep_alive();
    if (request_.body_bytes > 0 && WantsToBeAsked(parser_->get())) {
      AskForBody();
    } else {
      ReadBody();
    }
  }

  void AskForBody() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    beast::get_lowest_layer(stream_).expires_after(world_.limits.body_time);
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = this->shared_from_this()](Error error, std::size_t) {
                        if (!error) {
                          self->ReadBody();
                        }
                      });
  }

  void ReadBody() {
    beast::get_lowest_layer(stream_).expires_after(world_.limits.body_time);
    beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](Error error, std::size_t) { self->OnBody(error); });
  }

  void OnBody(Error error) {
    if (error) {
      keep_ = false;
      if (error == beast::http::error::body_limit) {
        Answer(Problem(413, "OUT_OF_RANGE", "the body is too large"));
      }
      return;
    }
    request_.body = std::move(parser_->get().body());
    beast::get_lowest_layer(stream_).expires_never();  // the handler has deadlines of its own
    world_.handlers.serve(std::exchange(request_, Request()),
                          std::make_shared<Path>(this->shared_from_this()));
    GiveBytes();
  }

  void Answer(Response response) {
    message_ = MessageOf(std::move(response), keep_, head_only_);
    serializer_.emplace(message_);
    if (head_only_) {
      serializer_->split(true);
    }
    beast::get_lowest_layer(stream_).expires_after(world_.limits.answer_time);
    auto then = [self = this->shared_from_this()](Error error, std::size_t) {
      self->OnAnswered(error);
    };
    if (head_only_) {
      beast::http::async_write_header(stream_, *serializer_, std::move(then));
    } else {
      beast::http::async_write(stream_, *serializer_, std::move(then));
    }
  }

  void OnAnswered(Error error) {
    serializer_.reset();
    message_ = {};
    if (error) {
      return;
    }
    if (keep_) {
      ReadHead(world_.limits.idle_time);
    } else {
      Close();
    }
  }

  void BeginStream(const Response& head) {
    keep_ = false;
    streams_ = true;
    if constexpr (std::is_same_v<Stream, PlainStream>) {
      Error ignored;
      stream_.socket().non_blocking(true, ignored);
    }
    WatchForEnd();
    WriteAll(std::make_shared<const std::string>(StreamHeadOf(head)));
  }

  // A caller of a stream says nothing more: what comes is its end.
  void WatchForEnd() {
    beast::get_lowest_layer(stream_).expires_never();
    stream_.async_read_some(asio::buffer(&unread_, 1),
                            [self = this->shared_from_this()](Error, std::size_t) {
                              self->gone_ = true;
                              beast::get_lowest_layer(self->stream_).close();
                              self->TellDone(false);
                            });
  }

  void WritePiece(ReplyPath::Piece piece, std::function<void(bool)> done) {
    if (gone_) {
      done(false);
      return;
    }
    done_ = std::move(done);
    if (writing_) {
      waits_ = std::move(piece);
    } else {
      WriteAll(std::move(piece));
    }
  }

  void WriteAll(ReplyPath::Piece piece) {
    going_out_ = std::move(piece);
    std::size_t gone_out = 0;
    if constexpr (std::is_same_v<Stream, PlainStream>) {
      // Most go out at once, and need neither a timer nor a turn of the loop.
      Error error;
      gone_out = stream_.socket().write_some(asio::buffer(*going_out_), error);
      if (gone_out == going_out_->size()) {
        OnWritten({});
        return;
      }
    }
    writing_ = true;
    beast::get_lowest_layer(stream_).expires_after(world_.limits.answer_time);
    asio::async_write(
        stream_, asio::buffer(*going_out_) + gone_out,
        [self = this->shared_from_this()](Error error, std::size_t) { self->OnWritten(error); });
  }

  void OnWritten(Error error) {
    writing_ = false;
    going_out_ = nullptr;
    if (error) {
      gone_ = true;
      beast::get_lowest_layer(stream_).close();
      TellDone(false);
    } else if (waits_ != nullptr) {
      WriteAll(std::exchange(waits_, nullptr));
    } else {
      TellDone(true);
    }
  }

  void TellDone(bool alive) {
    if (const auto done = std::exchange(done_, nullptr)) {
      done(alive);
    }
  }

  void Close() {
    if (streams_) {
      gone_ = true;
      beast::get_lowest_layer(stream_).close();
      TellDone(false);
      return;
    }
    // What the caller still sends is read for a moment: a connection that is closed with something
    // unread may take our answer along.
    Error ignored;
    beast::get_lowest_layer(stream_).socket().shutdown(asio::ip::tcp::socket::shutdown_send,
                                                       ignored);
    beast::get_lowest_layer(stream_).expires_after(kDrainTime);
    Drain();
  }

  void Drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kBeyondHeader),
                            [self = this->shared_from_this()](Error error, std::size_t) {
                              if (!error) {
                                self->Drain();
                              }
                            });
  }

  Stream stream_;
  SessionWorld& world_;
  const std::string source_;
  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  Request request_;
  std::uint64_t taken_bytes_ = 0;  // of its body, from the source's budget
  bool keep_ = false;
  bool head_only_ = false;
  BeastResponse message_;
  std::optional<beast::http::response_serializer<beast::http::string_body>> serializer_;
  // A stream's.
  ReplyPath::Piece waits_;
  ReplyPath::Piece going_out_;
  std::function<void(bool)> done_;
  char unread_ = 0;
  bool streams_ = false;
  bool writing_ = false;
  bool gone_ = false;
};

}  // namespace muster::daemon::http
