#include "cli/kernel/nsys_trace.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

// What nsys export --type json writes: numbers of 64 bits as text, names by their place.
constexpr const char* kExport =
    R"({"data":["[Unknown]","gemm","cudaLaunchKernel_v7000","fwd"]}
{"Type":48,"TraceProcessEvent":{"startNs":"1000","endNs":"3000","correlationId":7,"name":"2","globalTid":"292568055813839"}}
{"Type":79,"CudaEvent":{"startNs":"140564259","endNs":"140619331","deviceId":1,"streamId":"7","kernel":{"demangledName":"3","shortName":"1"}}}
{"Type":80,"CudaEvent":{"startNs":"145769443","endNs":"146102147","deviceId":1,"streamId":"43","memcpy":{"sizebytes":"58720256","copyKind":"2"}}}
{"Type":80,"CudaEvent":{"startNs":1,"endNs":2001,"deviceId":1,"streamId":"43","memset":{"sizebytes":"8"}}}

{"Type":106,"CudaEvent":{"startNs":"291260928","endNs":"291262048","deviceId":0,"streamId":"47","sync":{"eventId":8823}}}
{"Type":127,"CudaEvent":{"startNs":"0","endNs":"0","deviceId":1,"cudaEventRecord":{"eventId":8823}}}
{"Type":59,"NvtxEvent":{"Type":59,"Timestamp":"27651616","Text":"iteration 16","GlobalTid":"292568055813839","EndTimestamp":"1450326304"}}
{"Type":59,"NvtxEvent":{"Timestamp":"1000","TextId":3,"GlobalTid":"292568055813839","EndTimestamp":"2000"}}
{"Type":75,"NvtxEvent":{"Type":75,"Timestamp":"27651616","Text":"a mark","GlobalTid":"292568055813839"}}
)";

TEST(NsysTrace, KernelsCopiesCallsAndRangesBecomeEvents) {
  const std::optional<Json> events = EventsOfNsys(kExport);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 6U) << events->dump(1);
  const auto is = [&](std::size_t at, const char* category, const char* name, const char* process,
                      std::int64_t thread, double begin, double length) {
    const Json& event = (*events)[at];
    EXPECT_EQ(event["cat"], category);
    EXPECT_EQ(event["name"], name);
    EXPECT_EQ(event["pid"], process);
    EXPECT_EQ(event["tid"], thread);
    EXPECT_DOUBLE_EQ(event["ts"].get<double>(), begin);
    EXPECT_DOUBLE_EQ(event["dur"].get<double>(), length);
  };
  constexpr std::int64_t kThread = 292'568'055'813'839 & 0xFFFFFF;
  is(0, "cuda_runtime", "cudaLaunchKernel_v7000", "process 661199", kThread, 1, 2);
  is(1, "kernel", "gemm", "GPU 1", 7, 140'564.259, 55.072);
  is(2, "gpu_memcpy", "Memcpy DtoH", "GPU 1", 43, 145'769.443, 332.704);
  is(3, "gpu_memset", "Memset", "GPU 1", 43, 0.001, 2);
  is(4, "user_annotation", "iteration 16", "process 661199", kThread, 27'651.616, 1'422'674.688);
  is(5, "user_annotation", "fwd", "process 661199", kThread, 1, 1);
}

TEST(NsysTrace, NamesMayBeLinesOfTheirOwnBehindTheEvents) {
  const std::optional<Json> events = EventsOfNsys(
      R"({"CudaEvent":{"startNs":"1000","endNs":"2000","kernel":{"shortName":"3721"}}}
{"type":"String","id":"3721","value":"gemm"})");
  ASSERT_TRUE(events.has_value());
  EXPECT_EQ(events->at(0)["name"], "gemm");
}

TEST(NsysTrace, WhatNsysHasNotWrittenIsNoTraceOfIts) {
  for (const char* text :
       {"", "garbage", "[]", "{}", R"({"traceEvents":[]})", "{\"CudaEvent\":{}"}) {
    EXPECT_FALSE(EventsOfNsys(text).has_value()) << text;
  }
  const std::optional<Json> strange = EventsOfNsys(
      R"({"CudaEvent":7}
{"CudaEvent":{"startNs":"x","endNs":[],"kernel":{}}}
{"NvtxEvent":{"Timestamp":"5","EndTimestamp":"1"}}
{"TraceProcessEvent":{"startNs":"1","endNs":"2","name":"99","globalTid":"-1"}})");
  ASSERT_TRUE(strange.has_value());
  EXPECT_EQ(strange->size(), 1U);
}

}  // namespace
}  // namespace muster::cli
