#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "daemon/gateway/rest/json_message.h"
#include "daemon/gateway/rest/open_api.h"
#include "daemon/gateway/rest/routes.h"
#include "proto/controller.pb.h"
#include "proto/convert/client_service.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;

http::Request Ask(const std::string& method, const std::string& path, http::Pairs query = {},
                  const std::string& body = "") {
  http::Request request;
  request.method = method;
  request.path = path;
  request.query = std::move(query);
  request.body = body;
  return request;
}

// The request of a call, as its own type.
template <class Message>
Message Read(const http::Request& request) {
  absl::StatusOr<RestCall> call = ReadCall(request);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? dynamic_cast<const Message&>(*call->request) : Message();
}

TEST(RoutesTest, AShortPathIsTheCallThatItStandsFor) {
  const auto list = Read<wire::ListJobsRequest>(Ask("GET", "/v1/jobs",
                                                    {{"state", "PENDING,RUNNING"},
                                                     {"user", "ada"},
                                                     {"fold", "true"},
                                                     {"job", "7"},
                                                     {"job", "8"}}));
  EXPECT_EQ(list.states_size(), 2);
  EXPECT_EQ(list.user(), "ada");
  EXPECT_TRUE(list.fold());
  EXPECT_EQ(list.jobs(1), 8U);
  EXPECT_EQ(Read<wire::ShowJobRequest>(Ask("GET", "/v1/jobs/7")).job().job(), 7U);
  EXPECT_EQ(Read<wire::ExplainRequest>(Ask("GET", "/v1/jobs/9/explanation")).job().job(), 9U);
  EXPECT_EQ(Read<wire::ListNodesRequest>(Ask("GET", "/v1/nodes/n1")).names(0), "n1");
}

TEST(RoutesTest, EveryMethodIsThereByItsName) {
  const auto cancel =
      Read<wire::CancelRequest>(Ask("POST", "/v1/Cancel", {}, R"({"jobs":[{"job":"7"}]})"));
  EXPECT_EQ(cancel.jobs(0).job(), 7U);
  EXPECT_EQ(Read<wire::ListHistoryRequest>(Ask("GET", "/v1/ListHistory", {{"limit", "3"}})).limit(),
            3U);
}

TEST(RoutesTest, WhatChangesSomethingIsNeverAGet) {
  for (const auto* method : RestMethods()) {
    const http::Request head = Ask("GET", "/v1/" + method->name());
    EXPECT_EQ(FindRoute(head).ok(), ChangesNothing(*method)) << method->name();
    EXPECT_TRUE(FindRoute(Ask("POST", "/v1/" + method->name())).ok());
  }
  for (const char* name : {"Submit", "Cancel", "Drain", "CreateToken", "ChangePolicy", "Update"}) {
    EXPECT_TRUE(
        absl::IsFailedPrecondition(FindRoute(Ask("GET", std::string("/v1/") + name)).status()))
        << name;
  }
  EXPECT_FALSE(FindRoute(Ask("DELETE", "/v1/jobs/7")).ok());
  EXPECT_FALSE(FindRoute(Ask("PUT", "/v1/Submit")).ok());
}

TEST(RoutesTest, WhatIsNotThereIsNotFound) {
  for (const char* path : {"/v1/", "/v1/Nothing", "/v1/SubmitMany", "/v1/WatchJob", "/v1/jobs/",
                           "/v1/jobs/7/x", "/v2/jobs", "/v1//jobs"}) {
    EXPECT_TRUE(absl::IsNotFound(FindRoute(Ask("GET", path)).status())) << path;
  }
}

TEST(RoutesTest, ARequestThatDoesNotFitIsAnErrorWithItsPlace) {
  const std::pair<http::Request, const char*> wrong[] = {
      {Ask("GET", "/v1/jobs/seven"), "job"},
      {Ask("GET", "/v1/jobs/-1"), "job"},
      {Ask("GET", "/v1/jobs/18446744073709551616"), "job"},
      {Ask("GET", "/v1/jobs", {{"usr", "ada"}}), "usr"},
      {Ask("GET", "/v1/jobs", {{"fold", "yes"}}), "fold"},
      {Ask("GET", "/v1/policy", {{"kind", "POLICY_KIND_NONE"}}), "kinds"},
      {Ask("POST", "/v1/Cancel", {}, "{"), "CancelRequest"},
      {Ask("POST", "/v1/Cancel", {}, R"({"jbs":[]})"), "jbs"},
      {Ask("POST", "/v1/Cancel", {}, "[1]"), "CancelRequest"},
      {Ask("POST", "/v1/Cancel", {}, std::string(20'000, '[')), "CancelRequest"},
  };
  for (const auto& [request, place] : wrong) {
    const absl::Status status = ReadCall(request).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << request.path << request.body.substr(0, 50);
    EXPECT_THAT(status.message(), HasSubstr(place));
    EXPECT_LT(status.message().size(), 500U);
  }
}

TEST(JsonMessageTest, AnAnswerHasEveryFieldByTheNameInTheProto) {
  wire::ListJobsReply reply;
  reply.add_jobs()->set_id(18446744073709551615U);
  reply.mutable_jobs(0)->set_name("<b>\xF0\x9F\x99\x82");
  const auto json = nlohmann::json::parse(WriteJson(reply));
  EXPECT_EQ(json["jobs"][0]["id"], "18446744073709551615");
  EXPECT_EQ(json["jobs"][0]["name"], "<b>\xF0\x9F\x99\x82");
  EXPECT_EQ(json["jobs"][0]["submit_time"], "0");
  EXPECT_TRUE(json["jobs"][0]["nodes"].is_array());
}

// Sets about half of the fields, lists and maps to two values, at most `depth` messages deep.
void Fill(google::protobuf::Message& message, std::mt19937& random, int depth) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& of = *message.GetReflection();
  for (int f = 0; f < message.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor* const field = message.GetDescriptor()->field(f);
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (random() % 2 == 0 || (is_message && depth == 0)) {
      continue;
    }
    for (int i = 0; i < (field->is_repeated() ? 2 : 1); ++i) {
      if (is_message) {
        auto* const inner = field->is_repeated() ? of.AddMessage(&message, field)
                                                 : of.MutableMessage(&message, field);
        Fill(*inner, random, depth - 1);
        continue;
      }
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        const std::string text =
            std::array{"", "plain", "<\"\\\n\xc3\xa9\xF0\x9F\x99\x82>"}[random() % 3];
        field->is_repeated() ? of.AddString(&message, field, text)
                             : of.SetString(&message, field, text);
        continue;
      }
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
        const double value = std::array{0.1, 1e300, -2.5}[random() % 3];
        field->is_repeated() ? of.AddDouble(&message, field, value)
                             : of.SetDouble(&message, field, value);
        continue;
      }
      const std::string path = field->name();
      const std::string text =
          field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL ? "true"
          : field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM
              ? field->enum_type()->value(field->enum_type()->value_count() - 1)->name()
              : std::to_string(random() % 100);
      ASSERT_TRUE(SetField(path, text, &message).ok()) << path;
    }
  }
}

TEST(JsonMessageTest, EveryMessageIsWrittenAsProtobufsOwnWriterWould) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::mt19937 random(26);
  for (const auto* method : RestMethods()) {
    const std::unique_ptr<google::protobuf::Message> reply(
        google::protobuf::MessageFactory::generated_factory()
            ->GetPrototype(method->output_type())
            ->New());
    for (int time = 0; time < 20; ++time) {
      reply->Clear();
      Fill(*reply, random, 3);
      std::string expected;
      ASSERT_TRUE(google::protobuf::util::MessageToJsonString(*reply, &expected, options).ok());
      EXPECT_EQ(nlohmann::json::parse(WriteJson(*reply)), nlohmann::json::parse(expected))
          << method->full_name();
    }
  }
}

TEST(OpenApiTest, EveryPathIsDescribedAndEveryReferenceLeadsSomewhere) {
  const std::string text = MakeOpenApi("1.2.3");
  const auto document = nlohmann::json::parse(text);
  EXPECT_EQ(document["openapi"], "3.1.0");
  EXPECT_EQ(document["info"]["version"], "1.2.3");
  for (const auto* method : RestMethods()) {
    const auto& path = document["paths"]["/v1/" + method->name()];
    EXPECT_TRUE(path.contains("post")) << method->name();
    EXPECT_EQ(path.contains("get"), ChangesNothing(*method)) << method->name();
  }
  for (const Alias& alias : Aliases()) {
    EXPECT_TRUE(document["paths"].contains(alias.path)) << alias.path;
  }
  const std::string reference = "\"#/components/schemas/";
  for (std::size_t at = text.find(reference); at != std::string::npos;
       at = text.find(reference, at + 1)) {
    const std::size_t begin = at + reference.size();
    const std::string name = text.substr(begin, text.find('"', begin) - begin);
    EXPECT_TRUE(document["components"]["schemas"].contains(name)) << name;
  }
  EXPECT_EQ(document["components"]["schemas"]["JobView"]["properties"]["nodes"]["type"], "array");
  EXPECT_EQ(document["security"][0]["token"], nlohmann::json::array());
}

TEST(JsonMessageTest, OfListsTheNamedFieldsAloneAreWritten) {
  wire::ListJobsReply reply;
  wire::JobView* const job = reply.add_jobs();
  job->set_id(7);
  job->set_name("<b>\n\xff");
  job->add_nodes("n1");
  job->mutable_reason()->set_text("waits");
  reply.add_jobs()->set_id(8);
  const auto json = WriteJson(reply, {"id", "nodes", "reason", "name"});
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(nlohmann::json::parse(*json), nlohmann::json::parse(R"({"jobs":[
      {"id":"7","name":"<b>\n\ufffd","reason":{"kind":"","text":"waits","never":false},"nodes":["n1"]},
      {"id":"8","name":"","nodes":[]}]})"));
  EXPECT_FALSE(WriteJson(reply, {"id", "nothing"}).ok());
}

TEST(JsonMessageTest, WhatIsNoListIsWrittenWhole) {
  wire::ShowPlanReply plan;
  plan.set_time(5);
  plan.add_jobs()->set_job(3);
  EXPECT_EQ(WriteJson(plan, {"job"}).value(), R"({"time":"5","jobs":[{"job":"3"}]})");
  wire::ShowCurveReply curves;
  EXPECT_EQ(WriteJson(curves, {"label"}).value(), R"({"curves":[]})");
}

TEST(RoutesTest, FieldsAreNoPartOfARequest) {
  const auto call = ReadCall(Ask("GET", "/v1/jobs", {{"fields", "id,name"}, {"limit", "3"}}));
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_THAT(call->fields, ::testing::ElementsAre("id", "name"));
}

}  // namespace
}  // namespace muster::daemon
