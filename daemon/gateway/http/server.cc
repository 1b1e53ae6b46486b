#include "daemon/gateway/http/server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/gateway/http/session.h"
#include "scheduler/base/status.h"

namespace muster::daemon::http {
namespace {

constexpr int kBacklog = 256;
constexpr std::chrono::milliseconds kPauseAfterError{100};

}  // namespace

// One socket that listens.
class Listener {
 public:
  Listener(asio::io_context& context, SessionWorld& world, asio::ssl::context* tls, int family,
           UniqueFd socket)
      : acceptor_(context, family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(),
                  socket.release()),
        pause_(context),
        world_(world),
        tls_(tls) {}

  void Accept() {
    acceptor_.async_accept([this](Error error, asio::ip::tcp::socket socket) {
      if (error == asio::error::operation_aborted) {
        return;
      }
      if (error) {  // no descriptors left, say: it gets better when connections end
        pause_.expires_after(kPauseAfterError);
        pause_.async_wait([this](Error ended) {
          if (!ended) {
            Accept();
          }
        });
        return;
      }
      Take(std::move(socket));
      Accept();
    });
  }

 private:
  void Take(asio::ip::tcp::socket socket) {
    Error error;
    const asio::ip::tcp::endpoint peer = socket.remote_endpoint(error);
    const std::string source =
        error ? std::string() : SourceBudget::SourceOf(peer.address().to_string());
    if (error || !world_.sources.Enter(source)) {
      return;
    }
    socket.set_option(asio::ip::tcp::no_delay(true), error);
    if (tls_ == nullptr) {
      std::make_shared<Session<PlainStream>>(PlainStream(std::move(socket)), world_, source)
          ->Begin();
    } else {
      std::make_shared<Session<TlsStream>>(TlsStream(PlainStream(std::move(socket)), *tls_), world_,
                                           source)
          ->Begin();
    }
  }

  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  SessionWorld& world_;
  asio::ssl::context* const tls_;
};

namespace {

// The host and the port of "HOST:PORT"; of "[::1]:80" without the brackets.
absl::StatusOr<std::pair<std::string, std::string>> SplitAddress(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = colon == std::string::npos ? "" : address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", address, ": write HOST:PORT, such as 127.0.0.1:7118"));
  }
  return std::pair(host, address.substr(colon + 1));
}

absl::Status UseTls(asio::ssl::context& context, const TlsText& tls) {
  Error error;
  context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                          asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                          asio::ssl::context::no_tlsv1_1 | SSL_OP_NO_RENEGOTIATION |
                          SSL_OP_NO_COMPRESSION,
                      error);
  context.use_certificate_chain(asio::buffer(tls.certificates), error);
  if (error) {
    return absl::InvalidArgumentError("--tls-cert: no certificate in PEM");
  }
  context.use_private_key(asio::buffer(tls.key), asio::ssl::context::pem, error);
  if (error || SSL_CTX_check_private_key(context.native_handle()) != 1) {
    return absl::InvalidArgumentError("--tls-key: not the key of the certificate, in PEM");
  }
  return absl::OkStatus();
}

void Repeat(const std::shared_ptr<asio::steady_timer>& timer, std::chrono::milliseconds period,
            const std::function<void()>& task) {
  timer->expires_after(period);
  timer->async_wait([timer, period, task](Error error) {
    if (!error) {
      task();
      Repeat(timer, period, task);
    }
  });
}

}  // namespace

struct Server::Core {
  Core(const ServerLimits& limits, Handlers handlers, const Clock& clock)
      : world{limits, std::move(handlers), SourceBudget(limits.sources, clock)} {}

  SessionWorld world;  // outlives the sessions, which the context holds
  std::optional<asio::ssl::context> tls;
  std::vector<std::unique_ptr<Listener>> listeners;
  asio::io_context context{1};
};

Server::Server(std::unique_ptr<Core> core) : core_(std::move(core)) {}

Server::~Server() {
  core_->listeners.clear();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Create(const ServerLimits& limits,
                                                       const std::optional<TlsText>& tls,
                                                       Handlers handlers, const Clock& clock) {
  auto core = std::make_unique<Core>(limits, std::move(handlers), clock);
  if (tls.has_value()) {
    core->tls.emplace(asio::ssl::context::tls_server);
    RETURN_IF_ERROR(UseTls(*core->tls, *tls));
  }
  return std::unique_ptr<Server>(new Server(std::move(core)));
}

std::optional<std::int64_t> Server::CertificateEnd() const {
  std::tm end = {};
  const X509* const shown =
      core_->tls.has_value() ? SSL_CTX_get0_certificate(core_->tls->native_handle()) : nullptr;
  return shown != nullptr && ASN1_TIME_to_tm(X509_get0_notAfter(shown), &end) == 1
             ? std::optional<std::int64_t>(timegm(&end))
             : std::nullopt;
}

absl::Status Server::Listen(UniqueFd socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6)) {
    return absl::InvalidArgumentError("a socket to listen on that is none of TCP's");
  }
  core_->listeners.push_back(std::make_unique<Listener>(
      core_->context, core_->world, core_->tls.has_value() ? &*core_->tls : nullptr,
      address.ss_family, std::move(socket)));
  core_->listeners.back()->Accept();
  return absl::OkStatus();
}

void Server::Run() {
  core_->context.run();
}

void Server::Stop() {
  core_->context.stop();
}

void Server::Every(std::chrono::milliseconds period, const std::function<void()>& task) {
  Repeat(std::make_shared<asio::steady_timer>(core_->context), period, task);
}

absl::StatusOr<UniqueFd> ListenTcp(const std::string& address) {
  ASSIGN_OR_RETURN(const auto parts, SplitAddress(address));
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(parts.first.c_str(), parts.second.c_str(), &hints, &found) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--listen ", address, ": write an address and a port, like 127.0.0.1:7118"));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> freed(found, freeaddrinfo);
  UniqueFd socket(
      ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  const int one = 1;
  if (!socket.valid() ||
      setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
      bind(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(socket.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("--listen ", address));
  }
  return socket;
}

std::string AddressOf(const UniqueFd& socket) {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> host = {};
  std::array<char, NI_MAXSERV> port = {};
  if (getsockname(socket.get(), raw, &length) != 0 ||
      (address.ss_family != AF_INET && address.ss_family != AF_INET6) ||
      getnameinfo(raw, length, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "";
  }
  return address.ss_family == AF_INET6 ? absl::StrCat("[", host.data(), "]:", port.data())
                                       : absl::StrCat(host.data(), ":", port.data());
}

bool IsLoopback(const std::string& address) {
  const auto parts = SplitAddress(address);
  in_addr four = {};
  in6_addr six = {};
  if (!parts.ok()) {
    return false;
  }
  if (inet_pton(AF_INET, parts->first.c_str(), &four) == 1) {
    return (ntohl(four.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  return inet_pton(AF_INET6, parts->first.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

}  // namespace muster::daemon::http
