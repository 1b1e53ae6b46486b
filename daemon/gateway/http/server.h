#pragma once

// The HTTP server: connections, limits, TLS; requests go to a handler, answers come back.
//
// Boost.Beast reads and writes HTTP/1.1, Asio waits, OpenSSL encrypts. A request is taken in two
// steps: `screen` judges its head alone and may answer at once; only then is a body read. Thread
// promise: Run belongs to one thread, on which screen and handler are called and must not block;
// answers come from any thread; Stop and Post are safe from any. Invariants: (1) whatever a
// connection does, it costs one descriptor, bounded memory and bounded time; (2) a request is
// passed on whole or not at all: a length that is not said once and plainly is an error, and then
// the connection ends; (3) every answer has the headers that keep browsers from trusting anything
// but our own files.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/gateway/http/message.h"
#include "daemon/gateway/http/source_budget.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon::http {

struct TlsText {
  std::string certificates;  // PEM, ours first
  std::string key;           // PEM
};

class Server {
 public:
  // `clock` outlives it. An error is one line: a certificate that is none, a key that is another's.
  static absl::StatusOr<std::unique_ptr<Server>> Create(const ServerLimits& limits,
                                                        const std::optional<TlsText>& tls,
                                                        Handlers handlers, const Clock& clock);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // When the certificate that it shows ends, in seconds since 1970; nothing: it shows none.
  [[nodiscard]] std::optional<std::int64_t> CertificateEnd() const;
  // Takes connections of a socket that listens.
  absl::Status Listen(UniqueFd socket);
  // Serves until Stop.
  void Run();
  void Stop();
  // Calls `task` on Run's thread every `period`.
  void Every(std::chrono::milliseconds period, const std::function<void()>& task);

 private:
  struct Core;
  explicit Server(std::unique_ptr<Core> core);
  const std::unique_ptr<Core> core_;
};

// A socket that listens on "HOST:PORT", where HOST is an address and PORT may be 0. An error is one
// line with the mend.
absl::StatusOr<UniqueFd> ListenTcp(const std::string& address);
// Where a socket listens, as ListenTcp reads it; "" when it is none of TCP's.
std::string AddressOf(const UniqueFd& socket);
// Whether only this machine reaches "HOST:PORT".
bool IsLoopback(const std::string& address);

}  // namespace muster::daemon::http
