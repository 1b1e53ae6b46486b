// muster estimate --serve, the program itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/estimate/serving_report.h"
#include "cli/estimate/serving_request.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

ProgramEnd Serve(Words options, const Words& more = {}) {
  options.insert(options.begin(), {"estimate", "--serve"});
  options.insert(options.end(), more.begin(), more.end());
  return RunMuster(options);
}

Json ServeDocument(const Words& options, Words more = {}) {
  more.emplace_back("--json");
  const ProgramEnd end = Serve(options, more);
  EXPECT_EQ(end.code, 0) << end.err;
  return Json::parse(end.out);
}

const Words& Llama70() {
  static const Words words = {"--params", "70B",  "--layers", "80",  "--kv-heads", "8",
                              "--gpus",   "8",    "--tp",     "4",   "--gpu",      "a100",
                              "--prompt", "3000", "--output", "1096"};
  return words;
}

TEST(EstimateServe, MemoryIsThatOfTheWeightsAndTheCache) {
  const Json document = ServeDocument(Llama70(), {"--batch", "16"});
  EXPECT_EQ(document["copies"], 2);
  EXPECT_EQ(document["kv_bytes_per_token"], 327'680);
  EXPECT_EQ(document["per_gpu_bytes"]["weights"], 35'000'000'000);
  // 1,342,177,280 bytes for 4096 tokens, as in draft-calabria-bmwg-ai-fabric-inference-bench.
  EXPECT_EQ(document["per_gpu_bytes"]["kv_cache"], 16 * 1'342'177'280LL / 4);
  EXPECT_EQ(document["batch_max"], (4 * 85'899'345'920 - 140'000'000'000) / 1'342'177'280);
}

// PyTorch's LLaMA-7B on an A100 with 2 TB/s: 107 tokens a second with 72 % of the bandwidth.
TEST(EstimateServe, TokensASecondAreThoseOfTheBandwidth) {
  const Json alone = ServeDocument({"--params", "6.74B", "--layers", "32", "--heads", "32", "--gpu",
                                    "a100", "--memory-bandwidth", "2TB/s", "--bandwidth-used",
                                    "0.72", "--prompt", "1", "--output", "1"})["alone"];
  EXPECT_NEAR(1 / alone["step_seconds"].get<double>(), 107, 0.5);
}

TEST(EstimateServe, AFullBatchWritesMoreAndEachRequestTakesLonger) {
  const Json document = ServeDocument(Llama70(), {"--batch", "16"});
  const Json& alone = document["alone"];
  const Json& full = document["full"];
  EXPECT_GT(full["tokens_per_second"].get<double>(), 10 * alone["tokens_per_second"].get<double>());
  EXPECT_GT(full["request_seconds"].get<double>(), alone["request_seconds"].get<double>());
  EXPECT_NEAR(full["tokens_per_second"].get<double>(),
              1096 * full["requests_per_second"].get<double>(), 1e-6);
  EXPECT_DOUBLE_EQ(alone["first_token_seconds"].get<double>(), 2 * 70e9 * 3000 / (4 * 312e12));
}

TEST(EstimateServe, TheRateThatKeepsAP99KeepsIt) {
  const Words batch = {"--batch", "16"};
  Words within = batch;
  within.insert(within.end(), {"--p99", "60s"});
  const auto rate = ServeDocument(Llama70(), within)["rate_within_p99"].get<double>();
  EXPECT_GT(rate, 0.1);
  Words at = batch;
  at.insert(at.end(), {"--rate", std::to_string(rate)});
  const Json queue = ServeDocument(Llama70(), at)["queue"];
  EXPECT_NEAR(queue["p99_seconds"].get<double>(), 60, 0.1);
  EXPECT_LT(queue["busy"].get<double>(), 1);
  const Json over = ServeDocument(Llama70(), {"--batch", "16", "--rate", "1000"})["queue"];
  EXPECT_TRUE(over["p99_seconds"].is_null());
  EXPECT_THAT(Serve(Llama70(), {"--rate", "1000"}).out, HasSubstr("the queue grows without end"));
  EXPECT_THAT(Serve(Llama70(), {"--rate", "0.01"}).out, HasSubstr(" without waiting; "));
  EXPECT_THAT(Serve(Llama70(), {"--p99", "1s"}).out, HasSubstr("at no rate, in full batches"));
}

TEST(EstimateServe, EnergyAndPriceAreOfAMillionTokens) {
  const Json document = ServeDocument(Llama70(), {"--batch", "16", "--price-gpu-hour", "2",
                                                  "--price-kwh", "0.25", "--pue", "1.25"});
  EXPECT_DOUBLE_EQ(document["hour"]["kwh"].get<double>(), 8 * 0.4 * 1.25);
  EXPECT_DOUBLE_EQ(document["hour"]["price"].get<double>(), 8 * 2 + 4 * 0.25);
  const double hours = 1e6 / document["full"]["tokens_per_second"].get<double>() / 3600;
  EXPECT_NEAR(document["million_tokens"]["price"].get<double>(), 17 * hours, 1e-9);
}

TEST(EstimateServe, ATokenOfAMixtureReadsItsExperts) {
  const Json document = ServeDocument({"--params", "46.7B", "--experts", "8", "--expert-size",
                                       "14336", "--hidden", "4096", "--layers", "32", "--kv-heads",
                                       "8", "--gpus", "2", "--tp", "2", "--gpu", "h100"});
  EXPECT_EQ(document["active_params"], 12'877'132'544);
  EXPECT_EQ(document["per_gpu_bytes"]["weights"], 46'700'000'000);
  EXPECT_LT(document["alone"]["step_seconds"].get<double>(), 2 * 13.1e9 / (2 * 3350e9));
}

TEST(EstimateServe, ThePageIsForPeople) {
  const ProgramEnd end =
      Serve({"--params", "8B", "--layers",         "32",   "--kv-heads", "8",   "--gpu",  "h100",
             "--batch",  "32", "--prompt",         "1024", "--output",   "256", "--rate", "10",
             "--p99",    "5s", "--price-gpu-hour", "2"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(end.out,
            "1 GPU h100: 1 copy x tp 1, each with 32 sequences of 1024 + 256 tokens (416 fit)\n"
            "\n"
            "PER GPU      GB\n"
            "weights   16.00\n"
            "KV cache   5.37\n"
            "total     21.37\n"
            "\n"
            "AT ONCE  FIRST TOKEN  EACH MORE  REQUEST  TOKENS/S  REQUESTS/S\n"
            "1            16.6 ms    4.82 ms   1.25 s     204.7      0.7995\n"
            "32                      6.22 ms   2.12 s      3861       15.08\n"
            "\n"
            "at 10 requests/s: 99 % within 2.25 s, of which up to 132 ms of waiting; 66 % busy\n"
            "99 % within 5 s: up to 13.72 requests/s\n"
            "\n"
            "an hour           0.7 kWh, price 2\n"
            "a million tokens  0.05036 kWh, price 0.1439\n");
}

// The line with which bad usage is refused.
std::string Refused(const Words& options, const Words& more = {}, int code = 2) {
  const ProgramEnd end = Serve(options, more);
  EXPECT_EQ(end.code, code);
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  return end.err;
}

TEST(EstimateServe, BadUsageIsOneLine) {
  EXPECT_EQ(Refused({}), "muster estimate: --params: name it, like --params 7e9\n");
  EXPECT_THAT(Refused({"--params", "7B"}), HasSubstr("the KV cache needs --layers and --kv-heads"));
  EXPECT_THAT(Refused({"--params", "7B", "--layers", "32", "--kv-heads", "8"}),
              HasSubstr("--serve needs a type, like --gpu h100"));
  EXPECT_EQ(Refused(Llama70(), {"--strategy", "zero3"}),
            "muster estimate: --strategy: not with --serve\n");
  EXPECT_THAT(Refused(Llama70(), {"--p99", "10"}), HasSubstr("--p99: "));
  EXPECT_THAT(Refused(Llama70(), {"--rate", "many"}), HasSubstr("--rate: \"many\""));
  EXPECT_THAT(Refused(Llama70(), {"--kv-dtype", "int3"}), HasSubstr("use bf16"));
  EXPECT_THAT(Refused(Llama70(), {"--gpu-memory", "80G,40G"}), HasSubstr("name one type"));
  EXPECT_THAT(Refused(Llama70(), {"--bandwidth-used", "0"}), HasSubstr("is not a part"));
  EXPECT_THAT(Refused(Llama70(), {"--batch", "1000"}, 1), HasSubstr("sequences of 3000 + 1096"));
  EXPECT_THAT(
      Refused({"--params", "70B", "--layers", "80", "--kv-heads", "8", "--gpu", "a100"}, {}, 1),
      HasSubstr("the weights take "));
  EXPECT_THAT(RunMuster({"estimate", "--params", "7B", "--prompt", "5"}).err,
              HasSubstr("--prompt: it goes with --serve"));
}

TEST(EstimateServe, TheReportIsOfTheRequestThatWasRead) {
  const Environment environment;
  const std::vector<Verb> verbs;
  const Invocation asked{environment,
                         verbs,
                         {{"serve", ""},
                          {"params", "8B"},
                          {"layers", "32"},
                          {"kv-heads", "8"},
                          {"gpu", "h100"},
                          {"dtype", "fp8"}},
                         {}};
  EXPECT_TRUE(CheckServingOptions(asked).ok());
  const ServingRequest request = ReadServingRequest(asked).value();
  EXPECT_EQ(request.batch, 256U);
  EXPECT_EQ(request.model.kv_bits, 16U);
  const ServingEstimate estimate = EstimateServing(request);
  EXPECT_EQ(estimate.weights, Bytes(8'000'000'000));
  EXPECT_EQ(Json::parse(ServingDocument(request, estimate))["batch"], 256);
}

}  // namespace
}  // namespace muster::cli
