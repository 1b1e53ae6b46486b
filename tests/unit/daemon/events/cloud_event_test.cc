#include "daemon/events/cloud_event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace muster::daemon {
namespace {

using Json = nlohmann::json;

EventNote Started() {
  EventNote note;
  note.version = Version(41);
  note.type = "muster.job.started";
  note.time = Time(Duration(1'767'225'600'123));
  note.job = JobId(9);
  note.facts = {JobId(9), JobId(9), "9", "train", "ada", "math", "gpu", {"mail-type=END"}};
  note.data = {{"nodes", std::vector<std::string>{"n1", "n2"}}, {"cpus", std::int64_t{8}}};
  return note;
}

TEST(CloudEventTest, HasTheAttributesOfCloudEvents) {
  const CloudEvent event = MakeCloudEvent(Started(), "here");
  EXPECT_EQ(Json::parse(event.json), Json::parse(R"({
    "specversion": "1.0", "id": "41", "source": "/muster/here", "type": "muster.job.started",
    "subject": "job/9", "time": "2026-01-01T00:00:00.123Z", "datacontenttype": "application/json",
    "data": {"job": 9, "label": "9", "name": "train", "user": "ada", "account": "math",
             "partition": "gpu", "notices": ["mail-type=END"], "nodes": ["n1", "n2"], "cpus": 8}})"));
  EXPECT_EQ(event.user, "ada");
}

TEST(CloudEventTest, WhateverIsInANameMakesOneLineOfJson) {
  EventNote note = Started();
  note.facts.name = "<script>\n\xff\xfe\u202e\"}";
  const CloudEvent event = MakeCloudEvent(note, "here");
  EXPECT_EQ(event.json.find('\n'), std::string::npos);
  EXPECT_FALSE(Json::parse(event.json, nullptr, false).is_discarded());
}

TEST(CloudEventTest, AJobThatNobodyKnowsIsNobodysToSee) {
  EventNote note = Started();
  note.facts = JobFacts();
  EXPECT_EQ(MakeCloudEvent(note, "here").user, "?");
  note.job = JobId();
  EXPECT_EQ(MakeCloudEvent(note, "here").user, "") << "of no job: for everybody";
}

}  // namespace
}  // namespace muster::daemon
