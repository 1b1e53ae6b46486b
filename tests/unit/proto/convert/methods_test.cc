#include "proto/convert/methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proto/convert/client_service.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/change/reply.h"
#include "scheduler/model/request/cluster_questions.h"
#include "scheduler/model/request/job_questions.h"
#include "tests/unit/proto/convert/filler.h"

namespace muster {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::MethodDescriptor;
using ::testing::ElementsAre;

// The bytes of a value are those of its message, and come back as they were through that message.
template <class T>
void ExpectBack(void (*write)(const T&, std::string*), absl::Status (*read)(std::string_view, T*),
                MessagePtr message) {
  std::string bytes;
  write(testing::Filled<T>(), &bytes);
  ASSERT_TRUE(message->ParseFromString(bytes)) << message->GetTypeName();
  T back{};
  ASSERT_TRUE(read(message->SerializeAsString(), &back).ok()) << message->GetTypeName();
  std::string again;
  write(back, &again);
  EXPECT_EQ(again, bytes) << message->GetTypeName();
}

int FieldsOf(const Descriptor& type) {
  return type.field_count();
}

template <ClientRequest Request>
void ExpectBothWays() {
  using Reply = typename Request::Reply;
  const MethodDescriptor& method = ClientMethod(Request::kMethod);
  ExpectBack<Request>(&AppendRequest<Request>, &ReadRequest<Request>, NewRequest(method));
  ExpectBack<Reply>(&AppendReply<Request>, &ReadReply<Request>, NewReply(method));
  EXPECT_EQ(FieldsOf(*method.input_type()), static_cast<int>(kFieldCount<Request>))
      << method.input_type()->name() << " has fields that the model lacks";
  if constexpr (Described<Reply>) {
    EXPECT_EQ(FieldsOf(*method.output_type()), static_cast<int>(kFieldCount<Reply>))
        << method.output_type()->name() << " has fields that the model lacks";
  } else {
    EXPECT_EQ(FieldsOf(*method.output_type()), 1) << method.output_type()->name();
  }
}

TEST(MethodsTest, EveryRequestAndEveryReplyComesBackAsItWas) {
#define MUSTER_BOTH_WAYS(REQUEST) ExpectBothWays<REQUEST>();
  MUSTER_CLIENT_COMMANDS(MUSTER_BOTH_WAYS)
  MUSTER_JOB_QUESTIONS(MUSTER_BOTH_WAYS)
  MUSTER_CLUSTER_QUESTIONS(MUSTER_BOTH_WAYS)
#undef MUSTER_BOTH_WAYS
}

TEST(MethodsTest, WhatHasNoStructIsAMessageForPrograms) {
  std::set<std::string> described;
#define MUSTER_NAME(REQUEST) described.insert(REQUEST::kMethod);
  MUSTER_CLIENT_COMMANDS(MUSTER_NAME)
  MUSTER_JOB_QUESTIONS(MUSTER_NAME)
  MUSTER_CLUSTER_QUESTIONS(MUSTER_NAME)
#undef MUSTER_NAME
  std::vector<std::string> others;
  for (int i = 0; i < ClientServiceType().method_count(); ++i) {
    const MethodDescriptor& method = *ClientServiceType().method(i);
    if (IsUnary(method) && !described.contains(method.name())) {
      others.push_back(method.name());
    }
  }
  EXPECT_THAT(others, ElementsAre("ReadMetrics"));
}

TEST(MethodsTest, AMethodIsCalledByItsServicesName) {
  EXPECT_EQ(MethodPath(ClientMethod("Submit")), "/muster.wire.Controller/Submit");
  EXPECT_TRUE(ChangesNothing(ClientMethod("ListJobs")));
  EXPECT_FALSE(ChangesNothing(ClientMethod("Cancel")));
  EXPECT_FALSE(IsUnary(ClientMethod("WatchJob")));
}

}  // namespace
}  // namespace muster
