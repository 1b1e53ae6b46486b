#include "cli/kernel/timeline_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace muster::cli {
namespace {

constexpr std::int64_t kBegin = 1'764'000'000'000'000'000;  // nanoseconds

// What Kineto writes of one process with one GPU, from `base` on; `rank` below 0: it knows none.
Json OfPyTorch(std::int64_t base, int rank) {
  Json document = Json::parse(R"json({
    "schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms", "traceEvents": [
    {"name": "process_name", "ph": "M", "ts": 5.250, "pid": 4242, "tid": 0, "args": {"name": "python"}},
    {"name": "process_sort_index", "ph": "M", "ts": 5.250, "pid": 4242, "tid": 0, "args": {"sort_index": 4242}},
    {"name": "process_name", "ph": "M", "ts": 5.250, "pid": 0, "tid": 0, "args": {"name": "python"}},
    {"ph": "X", "cat": "Trace", "ts": 5.250, "dur": 90.000, "pid": "Spans", "tid": "PyTorch Profiler",
     "name": "PyTorch Profiler (0)", "args": {"Op count": 0}},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4242, "tid": 4242, "ts": 10.125, "dur": 3.500},
    {"ph": "s", "id": 7, "pid": 4242, "tid": 4242, "ts": 10.125, "cat": "ac2g", "name": "ac2g"},
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20.001, "dur": 30.000},
    {"ph": "f", "id": 7, "pid": 0, "tid": 7, "ts": 20.001, "cat": "ac2g", "name": "ac2g", "bp": "e"}]})json");
  document["baseTimeNanoseconds"] = base;
  if (rank >= 0) {
    document["distributedInfo"] = {{"backend", "nccl"}, {"rank", rank}, {"world_size", 2}};
  }
  return document;
}

// What a PhaseMarker writes.
Json OfMarker(int rank, double microseconds) {
  return Json::array(
      {{{"name", "process_name"}, {"ph", "M"}, {"pid", rank}, {"args", {{"name", "rank"}}}},
       {{"name", "step"}, {"ph", "X"}, {"ts", microseconds}, {"dur", 1}, {"pid", rank}}});
}

const Json& Named(const TimelinePart& part, const std::string& name) {
  for (const Json& event : part.events) {
    if (event.value("name", "") == name) {
      return event;
    }
  }
  static const Json none;
  ADD_FAILURE() << "no " << name;
  return none;
}

// {process: {what it is called, its place}} of all parts.
std::map<std::string, std::pair<std::string, std::int64_t>> Processes(
    const std::vector<TimelinePart>& parts) {
  std::map<std::string, std::pair<std::string, std::int64_t>> found;
  for (const TimelinePart& part : parts) {
    for (const Json& event : part.events) {
      if (event.value("name", "") == "process_name") {
        found[event["pid"].dump()].first = event["args"]["name"];
      } else if (event.value("name", "") == "process_sort_index") {
        found[event["pid"].dump()].second = event["args"]["sort_index"];
      }
    }
  }
  return found;
}

TEST(TimelineParts, MarkersAloneStayAsTheyAre) {
  std::vector<TimelinePart> parts = {*TimelinePartOf(OfMarker(0, 5e9), 0),
                                     *TimelinePartOf(OfMarker(1, 6e9), 1)};
  EXPECT_EQ(LineUp(&parts), 0);
  EXPECT_EQ(parts[0].events, OfMarker(0, 5e9));
  EXPECT_EQ(parts[1].events, OfMarker(1, 6e9));
}

TEST(TimelineParts, AllTimesCountFromTheEarliestBegin) {
  // The marker began 2 ms before the one process, the other 1 ms after that.
  std::vector<TimelinePart> parts = {
      *TimelinePartOf(OfPyTorch(kBegin, 0), 0),
      *TimelinePartOf(OfPyTorch(kBegin + 1'000'000, 1), 1),
      *TimelinePartOf(OfMarker(0, static_cast<double>(kBegin / 1000) - 2000), 2)};
  EXPECT_EQ(LineUp(&parts), kBegin - 2'000'000);
  EXPECT_DOUBLE_EQ(Named(parts[2], "step")["ts"].get<double>(), 0);
  EXPECT_DOUBLE_EQ(Named(parts[0], "gemm")["ts"].get<double>(), 2020.001);
  EXPECT_DOUBLE_EQ(Named(parts[1], "gemm")["ts"].get<double>(), 3020.001);
  EXPECT_DOUBLE_EQ(Named(parts[0], "gemm")["dur"].get<double>(), 30);
}

TEST(TimelineParts, RanksShareNoProcessAndNoFlow) {
  std::vector<TimelinePart> parts = {*TimelinePartOf(OfPyTorch(kBegin, 0), 0),
                                     *TimelinePartOf(OfPyTorch(kBegin, 1), 1),
                                     *TimelinePartOf(OfMarker(0, 0), 2)};
  LineUp(&parts);
  std::set<std::string> pids[3];
  std::set<std::string> flows[2];
  for (std::size_t at = 0; at < parts.size(); ++at) {
    for (const Json& event : parts[at].events) {
      pids[at].insert(event["pid"].dump());
      if (event.contains("id")) {
        flows[at].insert(event["id"].dump());
      }
    }
  }
  EXPECT_EQ(pids[0].size(), 3U);
  EXPECT_EQ(pids[1].size(), 3U);
  EXPECT_THAT(pids[2], ::testing::ElementsAre("0")) << "a marker's process is its rank";
  std::set<std::string> all = pids[0];
  all.insert(pids[1].begin(), pids[1].end());
  all.insert(pids[2].begin(), pids[2].end());
  EXPECT_EQ(all.size(), 7U);
  EXPECT_EQ(flows[0].size(), 1U) << "both ends of a flow still name it";
  EXPECT_EQ(flows[1].size(), 1U);
  EXPECT_NE(flows[0], flows[1]);
}

TEST(TimelineParts, ProcessesAreNamedAfterTheirRankAndStandByIt) {
  std::vector<TimelinePart> parts = {*TimelinePartOf(OfPyTorch(kBegin, 1), 0),
                                     *TimelinePartOf(OfMarker(0, 0), 1),
                                     *TimelinePartOf(OfMarker(1, 0), 2)};
  LineUp(&parts);
  std::map<std::int64_t, std::string> by_place;
  for (const auto& [pid, process] : Processes(parts)) {
    by_place[process.second] = process.first;
  }
  std::vector<std::string> names;
  for (const auto& [place, name] : by_place) {
    names.push_back(name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("rank", "rank", "rank 1: python", "rank 1: python",
                                            "rank 1: Spans"));
}

TEST(TimelineParts, AProgramWithoutRanksHasThatOfItsPlace) {
  EXPECT_EQ(TimelinePartOf(OfPyTorch(kBegin, -1), 3)->rank, 3);
  EXPECT_EQ(TimelinePartOf(OfPyTorch(kBegin, 0), 3)->rank, 0);
}

// A list whose processes are words, of which two collectives end at these microseconds.
TimelinePart WithoutClock(double first, double second, int place) {
  Json events = Json::array();
  for (const double end : {first, second}) {
    events.push_back({{"ph", "X"},
                      {"cat", "kernel"},
                      {"name", "ncclDevKernel_AllReduce"},
                      {"pid", "GPU 0"},
                      {"tid", 7},
                      {"ts", end - 5},
                      {"dur", 5}});
  }
  return *TimelinePartOf(std::move(events), place);
}

TEST(TimelineParts, WithoutAClockCollectivesSayWhenARanksTimesAre) {
  std::vector<TimelinePart> parts = {WithoutClock(100, 200, 0), WithoutClock(5100, 5200, 1)};
  EXPECT_EQ(LineUp(&parts), 0) << "nobody knows the date";
  EXPECT_EQ(Named(parts[0], "ncclDevKernel_AllReduce")["ts"],
            Named(parts[1], "ncclDevKernel_AllReduce")["ts"]);
  EXPECT_FALSE(parts[1].unaligned);
  TimelinePart torch = *TimelinePartOf(OfPyTorch(kBegin, 0), 0);
  for (Json& event : torch.events) {
    event["name"] = event.value("cat", "") == "kernel" ? "ncclDevKernel_AllReduce" : event["name"];
  }
  torch.events.push_back({{"ph", "X"},
                          {"cat", "kernel"},
                          {"name", "ncclDevKernel_AllReduce"},
                          {"pid", 0},
                          {"tid", 7},
                          {"ts", 140.001},
                          {"dur", 10}});
  parts = {WithoutClock(100, 200, 1), torch};
  EXPECT_EQ(LineUp(&parts), kBegin - 49'999) << "both ended 50 and 150.001 us after the begin";
  EXPECT_NEAR(Named(parts[0], "ncclDevKernel_AllReduce")["ts"].get<double>(), 95, 0.01);
}

TEST(TimelineParts, ARankWithNeitherClockNorCollectivesInCommonSaysSo) {
  TimelinePart other = WithoutClock(100, 200, 1);
  other.events.erase(1);
  std::vector<TimelinePart> parts = {*TimelinePartOf(OfPyTorch(kBegin, 0), 0), other};
  EXPECT_EQ(LineUp(&parts), kBegin);
  EXPECT_TRUE(parts[1].unaligned);
  EXPECT_FALSE(parts[0].unaligned);
}

TEST(TimelineParts, WhatHtaAddsToATraceOfPyTorchsStaysWithItsRank) {
  Json document = OfPyTorch(kBegin, 1);
  document.erase("deviceProperties");
  document["traceEvents"].push_back(
      {{"ph", "C"}, {"name", "Queue Length"}, {"pid", 0}, {"ts", 21}, {"args", {{"Stream 7", 3}}}});
  std::vector<TimelinePart> parts = {*TimelinePartOf(document, 0),
                                     *TimelinePartOf(OfPyTorch(kBegin, 0), 1)};
  LineUp(&parts);
  EXPECT_EQ(parts[0].rank, 1);
  EXPECT_EQ(Named(parts[0], "Queue Length")["pid"], Named(parts[0], "gemm")["pid"]);
  EXPECT_NE(Named(parts[0], "Queue Length")["pid"], Named(parts[1], "gemm")["pid"]);
}

TEST(TimelineParts, AMarkerThatMarkedNothingSaysNoTime) {
  std::vector<TimelinePart> parts = {*TimelinePartOf(Json::array(), 0), WithoutClock(100, 200, 1),
                                     WithoutClock(100, 200, 2)};
  EXPECT_EQ(LineUp(&parts), 0);
  EXPECT_FALSE(parts[1].unaligned);
  EXPECT_EQ(parts[1].base, parts[2].base);
}

TEST(TimelineParts, WhatIsNoTraceIsRefusedAndStrangeEventsAreKept) {
  for (const char* text : {"7", R"({"no":1})", R"({"traceEvents":"none"})", R"([{"ts":1e300}])",
                           R"([{"ts":1,"dur":1.7e18}])", R"([{"pid":4294967296}])",
                           R"({"traceEvents":[],"baseTimeNanoseconds":1e300})",
                           R"({"traceEvents":[],"distributedInfo":{"rank":1e9}})"}) {
    EXPECT_EQ(TimelinePartOf(Json::parse(text), 0).status().code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
  Json strange = OfPyTorch(kBegin, 0);
  strange["distributedInfo"] = "none";
  strange["traceEvents"] = Json::parse(
      R"([7, {"name": 1, "ph": 2, "pid": null, "id": "x", "args": 3}, {"name": "process_name", "ph": "M", "pid": 1}])");
  std::vector<TimelinePart> parts = {*TimelinePartOf(strange, 0)};
  LineUp(&parts);
  EXPECT_EQ(parts[0].events[0], 7);
  EXPECT_EQ(parts[0].events[1]["id"], "x");
  EXPECT_EQ(parts[0].events[1]["args"], 3);
}

}  // namespace
}  // namespace muster::cli
