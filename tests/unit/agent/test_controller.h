#pragma once

// A controller for tests: a real gRPC server that records what an agent says and sends what the
// test says.
//
// Every Await…() gives up after ten seconds with a failure.

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/agent.grpc.pb.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/mutex.h"

namespace muster::agent {

class TestController final : public wire::AgentLink::Service {
 public:
  static constexpr std::uint32_t kNode = 7;
  static constexpr const char* kCluster = "test";

  explicit TestController(const std::string& address,
                          const std::shared_ptr<grpc::ServerCredentials>& credentials =
                              grpc::InsecureServerCredentials());
  ~TestController() override;

  // Over TLS: the key of its certificate, which vouches for that of its orders.
  void VouchBy(SigningKey key) { voucher_ = std::move(key); }

  // The TCP port, where it listens on one.
  int port() const { return port_; }

  // The next registration; answers it with a Welcome of that epoch unless `epoch` is 0.
  wire::Registration AwaitRegistration(std::uint64_t epoch = 1);
  // The next report, in the order of arrival.
  Report AwaitReport();
  // Takes reports until one holds a RunEnded, which it returns.
  RunEnded AwaitEnd();
  // How many heartbeats have come.
  std::uint64_t heartbeats() const;
  bool HasRegistration() const;

  // As it is, without a signature.
  void Send(const wire::ControllerMessage& message);
  // Signed for the agent that registered last, in its place on the stream.
  void SendOrder(const wire::ControllerMessage& order);
  // The same, not sent.
  wire::SignedOrder Sign(const wire::OrderBody& body) const;
  wire::OrderBody BodyFor(const wire::ControllerMessage& order);
  void Launch(const LaunchOrder& order);
  void Terminate(const TerminateOrder& order);
  void Acknowledge(const Report& report);
  void Refuse(const std::string& text, bool permanent);
  // Breaks the stream, as a network would.
  void Drop();

  grpc::Status Attach(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<wire::ControllerMessage, wire::AgentMessage>* stream) override;

 private:
  // Waits, holding the mutex, until `holds` or ten seconds have passed.
  bool Await(const std::function<bool()>& holds);

  mutable Mutex mutex_;
  CondVar changed_;
  grpc::ServerContext* context_ = nullptr;
  grpc::ServerReaderWriter<wire::ControllerMessage, wire::AgentMessage>* stream_ = nullptr;
  std::deque<wire::Registration> registrations_;
  std::deque<Report> reports_;
  std::uint64_t heartbeats_ = 0;
  const SigningKey key_ = SigningKey::Generate().value();
  SigningKey voucher_;
  std::string node_;
  std::string challenge_;
  std::uint64_t sequence_ = 0;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace muster::agent
