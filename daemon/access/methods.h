#pragma once

// Every method of the client service by its name, each served by what was given for its request.
//
// The one door of all clients: a call is admitted by the access table, read into the struct that
// describes its request, and given to the function that serves it. Thread promise: Serve and
// ServeInTurn before the first call; Enter from gRPC's threads. Invariants: (1) every call is first
// asked of the access table, and counted in the timings of its method; (2) a method that no
// function serves ends the process when the service is made (CheckComplete).

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/access/call.h"
#include "daemon/access/gate.h"
#include "daemon/access/read_queue.h"
#include "daemon/controller/meters.h"
#include "proto/convert/methods.h"

namespace muster::daemon {

class Methods {
 public:
  // `gate` outlives it, and so does what the functions refer to.
  explicit Methods(const Gate& gate);
  Methods(const Methods&) = delete;
  Methods& operator=(const Methods&) = delete;

  // `serve` answers calls of Request's method, now or later, on any thread.
  template <ClientRequest Request>
  using Server = std::function<void(const Call<Request>& call, Request request)>;
  template <ClientRequest Request>
  void Serve(Server<Request> serve) {
    Add(Request::kMethod, Typed<Request>(std::move(serve)), false);
  }
  // The same for what may take long: it begins when it is its user's turn.
  template <ClientRequest Request>
  void ServeInTurn(Server<Request> serve) {
    Add(Request::kMethod, Typed<Request>(std::move(serve)), true);
  }
  // A method whose request and reply are messages for programs alone; `request` is the bytes of one.
  using Untyped = std::function<void(const AnyCall& call, std::string_view request)>;
  void ServeMessages(const char* method, Untyped serve) { Add(method, std::move(serve), true); }

  // Ends the process when a unary method has no function.
  void CheckComplete() const;

  // Whether there is a unary method of that name.
  [[nodiscard]] bool IsServed(const std::string& method) const;
  // The reactor of a call; already finished when the caller is refused. REQUIRES: IsServed(method).
  grpc::ServerUnaryReactor* Enter(const std::string& method, grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer& request, grpc::ByteBuffer* reply);
  // Who calls, when the table lets them call the method, be it a stream.
  [[nodiscard]] absl::StatusOr<Caller> Admit(const grpc::CallbackServerContext& context,
                                             const std::string& method) const;
  // Serves a call that was admitted.
  void ServeAdmitted(const AnyCall& call, std::string_view request) const;

  // Of each method, how long its calls took; no method is ever added.
  [[nodiscard]] const std::map<std::string, Timings>& timings() const { return timings_; }

 private:
  struct Entry {
    explicit Entry(const google::protobuf::MethodDescriptor& its);
    const google::protobuf::MethodDescriptor& type;
    const std::string path;
    Untyped serve = nullptr;  // of a stream: none
    bool in_turn = false;
  };

  template <ClientRequest Request>
  static Untyped Typed(Server<Request> serve) {
    return
        [serve = std::move(serve)](const AnyCall& call, std::string_view bytes) {
          Request request;
          if (const absl::Status read = ReadRequest(bytes, &request); !read.ok()) {
            call.Refuse(read);
            return;
          }
          serve(Call<Request>{call}, std::move(request));
        };
  }
  void Add(const char* method, Untyped serve, bool in_turn);
  void TakeTurn(const AnyCall& call, CallReactor* reactor, std::string request);

  const Gate& gate_;
  std::map<std::string, Entry> entries_;  // of every method, by its name
  std::map<std::string, Timings> timings_;
  ReadQueue turns_;
};

}  // namespace muster::daemon
