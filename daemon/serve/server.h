#pragma once

// Where the controller listens, and with which credentials.
//
// A unix socket is for its owner alone. A TCP address needs TLS, on this machine too: our
// certificate is shown, and callers show theirs, or a MUNGE credential with each call. The files
// are looked at again every few seconds.
// Connections come through the acceptor, never through a listening socket of gRPC's.
// Thread promise: Start and Stop from one thread. Invariants: a message that came compressed is not
// unpacked; one that is larger than its service takes is refused.

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/door/acceptor.h"
#include "daemon/door/framed_door.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::daemon {

struct TlsFiles {
  std::string certificate;  // PEM, ours
  std::string key;          // PEM
  std::string authority;    // PEM, the authority that signs callers' certificates
  std::string revoked;      // of callers' certificates; empty: none are
  [[nodiscard]] bool given() const {
    return !certificate.empty() || !key.empty() || !authority.empty();
  }
};

class Server {
 public:
  struct Setting {
    std::vector<std::string> addresses;  // to listen on: "unix:PATH", "HOST:PORT"
    TlsFiles tls;
    std::vector<grpc::Service*> services;
    std::vector<UniqueFd> passed = {};  // sockets that a service manager listens on for us
    // Looks at the calls over TLS; it may be null.
    std::shared_ptr<grpc::AuthMetadataProcessor> processor = nullptr;
    // A further "unix:PATH" on which nothing but tokens counts; empty: none.
    std::string gateway = {};
    // Sorts out the connections of unix sockets that are its own; it may be null.
    FramedDoor* frames = nullptr;
  };

  // An error is one line: the address, what is wrong, the mend; then nothing listens. `acceptor`,
  // which is not started yet, and the frames' door, which is, outlive the server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(Acceptor& acceptor, Setting setting);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The TCP port that an address with port 0 was given; 0 when there is none.
  [[nodiscard]] int port() const { return port_; }
  // Where it listens: "unix:PATH", "HOST:PORT".
  [[nodiscard]] const std::vector<std::string>& addresses() const { return addresses_; }
  // What the log should say of our certificate; empty: nothing.
  [[nodiscard]] const std::string& warning() const { return warning_; }
  // Says in the log which port it has, and when our certificate ends, if that is soon.
  void Tell(const Logger& log) const;
  // Ends all calls within a moment.
  void Stop();

 private:
  Server(Acceptor& acceptor, FramedDoor* frames) : acceptor_(acceptor), frames_(frames) {}
  void Open(grpc::ServerBuilder& builder, UniqueFd listening, const std::string& address,
            const TlsFiles& tls, const std::shared_ptr<grpc::AuthMetadataProcessor>& processor);
  absl::Status OpenGateway(grpc::ServerBuilder& builder, const std::string& address);
  void TakeFrom(UniqueFd listening, Acceptor::Kind kind, FramedDoor* frames);

  Acceptor& acceptor_;
  FramedDoor* const frames_;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::string> sockets_;
  std::vector<std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor>> doors_;
  std::vector<std::string> addresses_;
  int port_ = 0;
  std::string warning_;
};

// Where others reach it, by commas: an address that stands for any has `host` in its place.
std::string AdvertisedOf(const Server& server, const std::string& host);

// Whether Start would take the address as it is written, before anything is opened. InvalidArgument
// is one line for the user.
absl::Status CheckAddress(const std::string& address, const TlsFiles& tls);
absl::Status CheckAddresses(const std::vector<std::string>& addresses, const TlsFiles& tls);

// Whether the files are a controller's: all there, the key readable by us alone, the certificate
// its, with the role of a controller. What the log should say of its expiry, or nothing.
absl::StatusOr<std::string> CheckTlsFiles(const TlsFiles& tls);

}  // namespace muster::daemon
