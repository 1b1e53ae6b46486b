#include "tests/unit/agent/test_controller.h"

#include <gtest/gtest.h>

#include <chrono>

#include "proto/convert/job.h"
#include "proto/convert/order.h"
#include "proto/convert/order_purpose.h"

namespace muster::agent {

TestController::TestController(const std::string& address,
                               const std::shared_ptr<grpc::ServerCredentials>& credentials) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, credentials, &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  EXPECT_NE(server_, nullptr) << address;
}

TestController::~TestController() {
  Drop();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  server_->Wait();
}

grpc::Status TestController::Attach(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<wire::ControllerMessage, wire::AgentMessage>* stream) {
  {
    const MutexLock lock(&mutex_);
    context_ = context;
    stream_ = stream;
  }
  wire::AgentMessage message;
  while (stream->Read(&message)) {
    const MutexLock lock(&mutex_);
    if (message.has_registration()) {
      registrations_.push_back(message.registration());
      node_ = message.registration().name();
      challenge_ = message.challenge();
      sequence_ = 0;
    } else if (message.has_heartbeat()) {
      ++heartbeats_;
    } else if (message.has_report()) {
      Report report;
      EXPECT_TRUE(FromWire(message.report(), &report).ok());
      reports_.push_back(report);
    }
    changed_.NotifyAll();
  }
  const MutexLock lock(&mutex_);
  if (stream_ == stream) {
    stream_ = nullptr;
    context_ = nullptr;
  }
  return grpc::Status::OK;
}

bool TestController::Await(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (!changed_.WaitFor(&mutex_, end - std::chrono::steady_clock::now())) {
      return holds();
    }
  }
  return true;
}

wire::Registration TestController::AwaitRegistration(std::uint64_t epoch) {
  wire::Registration registration;
  {
    const MutexLock lock(&mutex_);
    if (!Await([this] { return !registrations_.empty(); })) {
      ADD_FAILURE() << "no agent registered";
      return registration;
    }
    registration = registrations_.front();
    registrations_.pop_front();
  }
  if (epoch != 0) {
    wire::ControllerMessage message;
    message.mutable_welcome()->set_node(kNode);
    message.mutable_welcome()->set_epoch(epoch);
    message.mutable_welcome()->set_cluster(kCluster);
    message.mutable_welcome()->set_heartbeat(50);
    message.mutable_welcome()->set_order_key(key_.PublicPem().value());
    if (voucher_.valid()) {
      message.mutable_welcome()->add_order_key_vouchers(
          voucher_.Sign(kOrderKeyPurpose, key_.PublicPem().value()).value());
    }
    Send(message);
  }
  return registration;
}

Report TestController::AwaitReport() {
  const MutexLock lock(&mutex_);
  if (!Await([this] { return !reports_.empty(); })) {
    ADD_FAILURE() << "no report came";
    return {};
  }
  const Report report = reports_.front();
  reports_.pop_front();
  return report;
}

RunEnded TestController::AwaitEnd() {
  for (int i = 0; i < 100; ++i) {
    const Report report = AwaitReport();
    if (const auto* ended = std::get_if<RunEnded>(&report.fact)) {
      return *ended;
    }
    if (::testing::Test::HasFailure()) {
      break;
    }
  }
  ADD_FAILURE() << "no end was reported";
  return {};
}

std::uint64_t TestController::heartbeats() const {
  const MutexLock lock(&mutex_);
  return heartbeats_;
}

bool TestController::HasRegistration() const {
  const MutexLock lock(&mutex_);
  return !registrations_.empty();
}

void TestController::Send(const wire::ControllerMessage& message) {
  const MutexLock lock(&mutex_);
  ASSERT_NE(stream_, nullptr) << "no agent is attached";
  EXPECT_TRUE(stream_->Write(message));
}

wire::OrderBody TestController::BodyFor(const wire::ControllerMessage& order) {
  const MutexLock lock(&mutex_);
  wire::OrderBody body;
  body.set_node(node_);
  body.set_challenge(challenge_);
  body.set_sequence(++sequence_);
  *body.mutable_order() = order;
  return body;
}

wire::SignedOrder TestController::Sign(const wire::OrderBody& body) const {
  wire::SignedOrder order;
  order.set_body(body.SerializeAsString());
  order.set_signature(key_.Sign(kOrderPurpose, order.body()).value());
  return order;
}

void TestController::SendOrder(const wire::ControllerMessage& order) {
  wire::ControllerMessage message;
  *message.mutable_signed_() = Sign(BodyFor(order));
  Send(message);
}

void TestController::Launch(const LaunchOrder& order) {
  wire::ControllerMessage message;
  ToWire(order, message.mutable_launch());
  SendOrder(message);
}

void TestController::Terminate(const TerminateOrder& order) {
  wire::ControllerMessage message;
  ToWire(order, message.mutable_terminate());
  SendOrder(message);
}

void TestController::Acknowledge(const Report& report) {
  wire::ControllerMessage message;
  message.mutable_ack()->set_job(report.job.value());
  message.mutable_ack()->set_attempt(report.attempt.value());
  message.mutable_ack()->set_index(report.index);
  Send(message);
}

void TestController::Refuse(const std::string& text, bool permanent) {
  wire::ControllerMessage message;
  message.mutable_refusal()->set_text(text);
  message.mutable_refusal()->set_permanent(permanent);
  Send(message);
}

void TestController::Drop() {
  const MutexLock lock(&mutex_);
  if (context_ != nullptr) {
    context_->TryCancel();
  }
}

}  // namespace muster::agent
