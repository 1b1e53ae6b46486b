#pragma once

// Sockets that a service manager listens on for us (socket activation): their connections are
// taken here and given to gRPC, which cannot listen on a socket that it did not open.
//
// What it is for: while the controller is down or starts again, callers wait in the socket's queue
// instead of being refused. Thread promise: Add, Start and Stop from one thread. Invariant: a
// passed socket stays open when we end; the manager goes on listening.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

// "unix:PATH" or "HOST:PORT" of a listening socket. InvalidArgument, one line, when it is no
// listening stream socket, and PermissionDenied when it is a unix socket that others than its owner
// may open or that belongs to somebody else than us and root.
absl::StatusOr<std::string> AddressOfPassed(const UniqueFd& socket);

class PassedSockets {
 public:
  PassedSockets() = default;
  ~PassedSockets();
  PassedSockets(const PassedSockets&) = delete;
  PassedSockets& operator=(const PassedSockets&) = delete;

  // REQUIRES: before the server is built, and Start after.
  void Add(UniqueFd socket, std::shared_ptr<grpc::ServerCredentials> credentials,
           grpc::ServerBuilder& builder);
  void Start();
  void Stop();

 private:
  struct Door {
    UniqueFd socket;
    std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  };
  void Serve();
  void TakeOne(Door& door);

  std::vector<Door> doors_;
  UniqueFd stop_;
  std::thread thread_;
};

}  // namespace muster
