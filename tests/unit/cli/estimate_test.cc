// muster estimate, the program itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/estimate/estimate_options.h"
#include "cli/estimate/estimate_request.h"
#include "cli/estimate/estimate_submission.h"
#include "cli/estimate/estimate_values.h"
#include "cli/estimate/run_figures.h"
#include "cli/estimate/training_report.h"
#include "tests/unit/cli/program.h"

namespace muster::cli {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

ProgramEnd Estimate(Words options) {
  options.insert(options.begin(), "estimate");
  return RunMuster(options);
}

Json EstimateDocument(Words options) {
  options.emplace_back("--json");
  const ProgramEnd end = Estimate(options);
  EXPECT_EQ(end.code, 0) << end.err;
  return Json::parse(end.out);
}

Json SevenBillion(const std::string& strategy, Words more = {}) {
  Words options = {"--params", "7e9",        "--dtype", "bf16",   "--optimizer",
                   "adam",     "--strategy", strategy,  "--gpus", "8"};
  options.insert(options.end(), more.begin(), more.end());
  return EstimateDocument(options);
}

TEST(Estimate, SevenBillionParametersTakeWhatTheIssueSays) {
  const Json ddp = SevenBillion("ddp")["per_gpu_bytes"];
  EXPECT_EQ(ddp["weights"], 14'000'000'000);
  EXPECT_EQ(ddp["gradients"], 14'000'000'000);
  EXPECT_EQ(ddp["optimizer"], 84'000'000'000);
  EXPECT_EQ(ddp["total"], 112'000'000'000);
  EXPECT_EQ(SevenBillion("zero1")["per_gpu_bytes"]["optimizer"], 10'500'000'000);
  const Json zero2 = SevenBillion("zero2")["per_gpu_bytes"];
  EXPECT_EQ(zero2["weights"], 14'000'000'000);
  EXPECT_EQ(zero2["gradients"], 1'750'000'000);
  const Json zero3 = SevenBillion("zero3")["per_gpu_bytes"];
  EXPECT_EQ(zero3["weights"], 1'750'000'000);
  EXPECT_EQ(zero3["gradients"], 1'750'000'000);
  EXPECT_EQ(zero3["optimizer"], 10'500'000'000);
  EXPECT_EQ(SevenBillion("fsdp")["per_gpu_bytes"], zero3);
}

TEST(Estimate, TheGradientsTravelAsLongAsTheIssueSays) {
  const Json fast = SevenBillion("ddp", {"--bandwidth", "50e9"})["allreduce"];
  EXPECT_DOUBLE_EQ(fast["bytes_per_gpu"].get<double>(), 24.5e9);
  EXPECT_DOUBLE_EQ(fast["seconds"].get<double>(), 0.49);
  const Json slow = SevenBillion("ddp", {"--bandwidth", "12.5GB/s"})["allreduce"];
  EXPECT_DOUBLE_EQ(slow["seconds"].get<double>(), 1.96);
  EXPECT_TRUE(SevenBillion("ddp")["allreduce"]["seconds"].is_null());
  // ZeRO-3 sends half as much again.
  const Json step = SevenBillion("zero3", {"--bandwidth", "50e9"})["step"];
  EXPECT_DOUBLE_EQ(step["bytes_per_gpu"].get<double>(), 36.75e9);
  EXPECT_DOUBLE_EQ(step["seconds"].get<double>(), 0.735);
}

TEST(Estimate, WithinNodesTheFasterLinksAreUsed) {
  Words options = {"--params",         "7e9",     "--gpus",          "32", "--bandwidth", "50GB/s",
                   "--node-bandwidth", "450GB/s", "--gpus-per-node", "8"};
  const Json two_levels = EstimateDocument(options)["allreduce"];
  EXPECT_EQ(two_levels["algorithm"], "hierarchical");
  EXPECT_NEAR(two_levels["seconds"].get<double>(), 24.5 / 450 + 2.625 / 50, 1e-9);
}

TEST(Estimate, FitsNamesEachTypeAndTheLeastNumberOfGpus) {
  const Json fits = SevenBillion("zero1", {"--gpu-memory", "big:80G,small:30G,24G"})["fits"];
  ASSERT_EQ(fits.size(), 3U);
  EXPECT_EQ(fits[0]["gpu"], "big");
  EXPECT_EQ(fits[0]["memory_bytes"], 85'899'345'920);
  EXPECT_EQ(fits[0]["fits"], true);
  EXPECT_EQ(fits[0]["gpus_min"], 2);
  EXPECT_EQ(fits[1]["fits"], false);
  EXPECT_EQ(fits[1]["gpus_min"], 20);  // 28 GB + 84 GB / 20 = 32.2 GB = 29.99 GiB
  EXPECT_EQ(fits[2]["gpu"], "24G");
  EXPECT_TRUE(fits[2]["gpus_min"].is_null());
  EXPECT_GE(SevenBillion("zero1")["fits"].size(), 5U);
}

TEST(Estimate, ActivationsComeFromTheShape) {
  const Json document =
      SevenBillion("ddp", {"--batch", "1", "--seq", "4096", "--hidden", "4096", "--layers", "32"});
  // sbhL (34 + 5 a s / h) with a = 32.
  EXPECT_EQ(document["per_gpu_bytes"]["activations"], 4096LL * 4096 * 32 * (34 + 160));
  EXPECT_EQ(document["activations_counted"], true);
  EXPECT_EQ(SevenBillion("ddp")["activations_counted"], false);
  const Json parts = document["per_gpu_bytes"];
  EXPECT_EQ(parts["total"].get<std::uint64_t>(),
            parts["weights"].get<std::uint64_t>() + parts["gradients"].get<std::uint64_t>() +
                parts["optimizer"].get<std::uint64_t>() +
                parts["activations"].get<std::uint64_t>() + parts["working"].get<std::uint64_t>());
}

// ZeRO-Offload, section 4: of 16 bytes for each parameter 2 stay.
TEST(Estimate, OffloadSaysWhatTheHostHolds) {
  const Json parts = SevenBillion("zero2", {"--offload", "optimizer"})["per_gpu_bytes"];
  EXPECT_EQ(parts["total"], 14'000'000'000);
  EXPECT_EQ(parts["gradients"], 0);
  EXPECT_EQ(parts["host"], 12'250'000'000);  // 14 * 7e9 / 8
  Words all = {"--offload", "optimizer:nvme,weights,activations", "--recompute", "full"};
  const Words shape = {"--batch", "1", "--seq", "4096", "--hidden", "4096", "--layers", "32"};
  all.insert(all.end(), shape.begin(), shape.end());
  const Json infinity = SevenBillion("zero3", all)["per_gpu_bytes"];
  EXPECT_EQ(infinity["total"], infinity["working"]);
  EXPECT_EQ(infinity["nvme"], 12'250'000'000);
  EXPECT_EQ(infinity["host"], 1'750'000'000 + 2LL * 4096 * 4096 * 32);
  const ProgramEnd page =
      Estimate({"--params", "7B", "--gpus", "8", "--strategy", "zero2", "--offload", "optimizer"});
  EXPECT_THAT(page.out, HasSubstr("total              14.00\non the host        12.25\n"));
}

TEST(Estimate, ExpertsSayWhatATokenUses) {
  const Words mixtral = {"--params", "46.7e9", "--experts",     "8",     "--hidden", "4096",
                         "--layers", "32",     "--expert-size", "14336", "--gpus",   "8",
                         "--ep",     "8"};
  const Json document = EstimateDocument(mixtral);
  EXPECT_EQ(document["active_params"], 12'877'132'544);
  EXPECT_EQ(document["ep"], 8);
  EXPECT_EQ(document["activations_counted"], false);
  EXPECT_EQ(document["per_gpu_bytes"]["weights"], 2 * (46'700'000'000 - 45'097'156'608 * 7 / 8));
  EXPECT_THAT(Estimate(mixtral).out,
              HasSubstr("8 GPUs: dp 8 x tp 1 x pp 1, ep 8; 12.88 of 46.7 billion parameters for a "
                        "token\n"));
}

TEST(Estimate, TensorAndPipelineDegreesDivideTheModel) {
  const Json document = SevenBillion("ddp", {"--tp", "2", "--pp", "2", "--bandwidth", "50e9"});
  EXPECT_EQ(document["dp"], 2);
  EXPECT_EQ(document["per_gpu_bytes"]["weights"], 3'500'000'000);
  EXPECT_DOUBLE_EQ(document["allreduce"]["bytes_per_gpu"].get<double>(), 3.5e9);
}

TEST(Estimate, ThePageIsForPeople) {
  const ProgramEnd end = Estimate({"--params", "7B", "--gpus", "8", "--strategy", "zero2",
                                   "--bandwidth", "50GB/s", "--gpu-memory", "h100:80G"});
  EXPECT_EQ(end.code, 0);
  EXPECT_EQ(end.out,
            "8 GPUs: dp 8 x tp 1 x pp 1\n"
            "\n"
            "PER GPU               GB\n"
            "weights            14.00\n"
            "gradients           1.75\n"
            "optimizer          10.50\n"
            "activations  not counted\n"
            "total              26.25\n"
            "\n"
            "GPU   MEMORY  FITS  LEAST GPUS\n"
            "h100  80 GiB  yes            2\n"
            "\n"
            "all-reduce  24.5 GB per GPU, 0.49 s (ring)\n"
            "each step   24.5 GB per GPU, 0.49 s (ring)\n"
            "to submit   muster submit --gpu-memory=27G --gpus-per-task=1 --ntasks=8 "
            "--parallel=tp=1,pp=1,dp=8 SCRIPT\n");
}

// The line with which bad usage is refused.
std::string Refused(Words options) {
  const ProgramEnd end = Estimate(std::move(options));
  EXPECT_EQ(end.code, 2);
  EXPECT_EQ(end.out, "");
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
  return end.err;
}

TEST(Estimate, BadUsageIsOneLine) {
  EXPECT_EQ(Refused({}), "muster estimate: --params: name it, like --params 7e9\n");
  EXPECT_THAT(Refused({"--params", "-1"}), HasSubstr("--params: \"-1\" is not a number: use 7e9"));
  EXPECT_THAT(Refused({"--params", "nan"}), HasSubstr("--params: \"nan\""));
  EXPECT_EQ(Refused({"--params", "7B", "--dtype", "fp8"}),
            "muster estimate: --dtype: \"fp8\" is not one: use bf16, bfloat16, fp16, float16, "
            "fp32, float32\n");
  EXPECT_THAT(Refused({"--params", "7B", "--optimizer", "lion"}), HasSubstr("use adam, adamw"));
  EXPECT_THAT(Refused({"--params", "7B", "--strategy", "zero4"}), HasSubstr("use ddp, zero1"));
  EXPECT_THAT(Refused({"--params", "7B", "--gpus", "0"}),
              HasSubstr("--gpus: \"0\" is not a count"));
  EXPECT_EQ(Refused({"--params", "7B", "--gpus", "8", "--tp", "3"}),
            "muster estimate: --gpus: 8 is no multiple of tp x pp = 3: use one that is\n");
  EXPECT_THAT(Refused({"--params", "7B", "--seq", "4096"}),
              HasSubstr("--batch: activations need --batch, --seq, --hidden and --layers"));
  EXPECT_THAT(Refused({"--params", "7B", "--gpus", "4", "--pp", "4", "--batch", "1", "--seq", "1",
                       "--hidden", "1", "--layers", "2"}),
              HasSubstr("--pp: 4 stages for 2 layers"));
  EXPECT_THAT(Refused({"--params", "7B", "--bandwidth", "fast"}),
              HasSubstr("--bandwidth: \"fast\""));
  EXPECT_THAT(Refused({"--params", "7B", "--node-bandwidth", "1e9"}),
              HasSubstr("--bandwidth: name"));
  EXPECT_THAT(Refused({"--params", "7B", "--bandwidth", "1e9", "--gpus-per-node", "8"}),
              HasSubstr("name both or neither"));
  EXPECT_THAT(Refused({"--params", "7B", "--gpu-memory", "h100:"}), HasSubstr("--gpu-memory: "));
  EXPECT_THAT(Refused({"--params", "1e18", "--batch", "1000000", "--seq", "1000000", "--hidden",
                       "1000000", "--layers", "1000000"}),
              HasSubstr("more than 64 bits"));
  EXPECT_EQ(Refused({"--params", "7B", "extra"}),
            "muster estimate: \"extra\": a script goes with --submit\n");
}

TEST(Estimate, OffloadAndExpertsAreRefusedWhereTheyMeanNothing) {
  EXPECT_EQ(Refused({"--params", "7B", "--offload", "optimizer"}),
            "muster estimate: --offload: optimizer goes with --strategy zero2 or zero3\n");
  EXPECT_THAT(Refused({"--params", "7B", "--offload", "disk"}), HasSubstr("\"disk\" is not one"));
  EXPECT_THAT(Refused({"--params", "7B", "--strategy", "zero3", "--offload", "weights"}),
              HasSubstr("weights goes with --strategy zero3 and --batch"));
  EXPECT_THAT(Refused({"--params", "7B", "--offload", "activations"}),
              HasSubstr("activations goes with --recompute full"));
  EXPECT_EQ(Refused({"--params", "7B", "--ep", "2"}),
            "muster estimate: --ep: it goes with --experts\n");
  EXPECT_THAT(Refused({"--params", "7B", "--experts", "8"}), HasSubstr("--expert-size: --experts"));
  const auto experts = [](const char* params, Words more) {
    Words options = {"--params", params, "--experts", "8",  "--expert-size", "14336",
                     "--hidden", "4096", "--layers",  "32", "--gpus",        "8"};
    options.insert(options.end(), more.begin(), more.end());
    return Refused(options);
  };
  EXPECT_THAT(experts("7B", {}), HasSubstr("--experts: they hold 45097156608 parameters"));
  EXPECT_THAT(experts("47B", {"--experts-active", "9"}), HasSubstr("9 of 8 experts"));
  EXPECT_THAT(experts("47B", {"--expert-layers", "33"}), HasSubstr("33 of 32 layers"));
  EXPECT_THAT(experts("47B", {"--ep", "3"}), HasSubstr("--ep: 3 does not divide both dp = 8"));
}

// Narayanan et al., arXiv 2104.04473, section 5.1: 34 days at 140 TFLOP/s of each GPU.
TEST(Estimate, TheRunTakesAsLongAsMegatronsAuthorsSay) {
  const Json run = EstimateDocument({"--params", "175B", "--tokens", "300B", "--gpus", "1024",
                                     "--gpu", "a100", "--flops-used", "0.448718", "--recompute",
                                     "full", "--pue", "1.1", "--price-gpu-hour", "2"})["run"];
  EXPECT_NEAR(run["seconds"].get<double>() / 86400, 34, 0.5);
  const auto hours = run["gpu_hours"].get<double>();
  EXPECT_NEAR(hours, 1024 * run["seconds"].get<double>() / 3600, 1);
  EXPECT_DOUBLE_EQ(run["kwh"].get<double>(), hours * 0.4 * 1.1);
  EXPECT_DOUBLE_EQ(run["price"].get<double>(), hours * 2);
  EXPECT_TRUE(run["currency"].is_null());
  EXPECT_TRUE(SevenBillion("ddp")["run"].is_null());
  EXPECT_THAT(Estimate({"--params", "7B", "--tokens", "1T", "--gpus", "64", "--gpu", "h100"}).out,
              HasSubstr("\nrun         19.19 d at 396 TFLOP/s each, 29479 GPU hours, 20.64 MWh\n"
                        "to submit"));
}

TEST(Estimate, PricesComeFromAConfiguration) {
  const std::string path = ::testing::TempDir() + "estimate_prices.toml";
  std::ofstream(path) << "[price]\ncurrency = \"EUR\"\ngpu_hour = 1.5\nkwh = 0.25\n"
                         "[price.2999-01-01]\ngpu_hour = 9.0\n";
  const Words words = {"--params", "1B",      "--tokens", "6B",       "--gpu-flops",
                       "100T",     "--watts", "1000",     "--prices", path};
  const Json run = EstimateDocument(words)["run"];
  const auto hours = run["gpu_hours"].get<double>();
  EXPECT_DOUBLE_EQ(hours, 6.0 * 1e9 * 6e9 / 40e12 / 3600);
  EXPECT_DOUBLE_EQ(run["price"].get<double>(), hours * 1.75);
  EXPECT_EQ(run["currency"], "EUR");
  std::ofstream(path) << "[scheduler]\n";
  EXPECT_THAT(Refused(words), HasSubstr("has no [price]: use --price-gpu-hour"));
  std::remove(path.c_str());
}

// DeepSeek-V3 (arXiv 2412.19437), table 1: 2.788 million GPU hours at 2 dollars are 5.576 million.
TEST(Estimate, GpuHoursCostWhatDeepSeeksReportSays) {
  const RunPrices prices{.currency = "USD", .gpu_hour = 2, .kwh = std::nullopt, .pue = 1};
  const RunCost cost = CostOfRun(2.788e6, GpuFigures{}, prices);
  EXPECT_DOUBLE_EQ(cost.price.value(), 5.576e6);
  EXPECT_FALSE(cost.kwh.has_value());
  EXPECT_EQ(PriceText(*cost.price, cost.currency), "5576000 USD");
  EXPECT_EQ(PriceText(0.25, ""), "price 0.25");
  EXPECT_EQ(SpanText(0.0125), "12.5 ms");
  EXPECT_EQ(SpanText(7000), "117 min");
  EXPECT_EQ(KwhText(449'000), "449 MWh");
}

TEST(Estimate, ARunNeedsTheSpeedOfAGpu) {
  EXPECT_THAT(Refused({"--params", "7B", "--tokens", "1T"}),
              HasSubstr("--tokens: how fast is a GPU? name its type, like --gpu h100"));
  EXPECT_THAT(Refused({"--params", "7B", "--gpu", "h9000"}),
              HasSubstr("--gpu: \"h9000\" is not known: use t4, v100"));
  EXPECT_EQ(Refused({"--params", "7B", "--watts", "300"}),
            "muster estimate: --watts: it goes with --tokens or --serve\n");
  const auto run = [](Words more) {
    Words options = {"--params", "7B", "--tokens", "1T", "--gpu", "h100"};
    options.insert(options.end(), more.begin(), more.end());
    return Refused(options);
  };
  EXPECT_THAT(run({"--flops-used", "40"}), HasSubstr("--flops-used: \"40\" is not a part"));
  EXPECT_THAT(run({"--price-gpu-hour", "cheap"}), HasSubstr("\"cheap\" is not an amount"));
  EXPECT_THAT(run({"--price-gpu-hour", "-1"}), HasSubstr("\"-1\" is not an amount"));
  EXPECT_THAT(run({"--pue", "0.5"}), HasSubstr("--pue: a data centre takes no less"));
  const ProgramEnd end = Estimate({"--params", "7B", "--tokens", "1T", "--gpu", "h100", "--prices",
                                   "/nonexistent/musterd.toml"});
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("/nonexistent/musterd.toml"));
}

TEST(Estimate, SaysHowToSubmitATaskForEachGpuWithItsMemoryAndATenthMore) {
  // 14 GB: 15.4 with a tenth more, which are 14.3 GiB.
  const Json submit = SevenBillion("zero3")["submit"];
  EXPECT_EQ(submit["ntasks"], "8");
  EXPECT_EQ(submit["gpus-per-task"], "1");
  EXPECT_EQ(submit["gpu-memory"], "15G");
  EXPECT_EQ(submit["parallel"], "tp=1,pp=1,dp=8");
  EXPECT_FALSE(EstimateDocument({"--params", "1e9"})["submit"].contains("parallel"));
  EXPECT_THAT(Estimate({"--params", "1e9"}).out,
              HasSubstr("muster submit --gpu-memory=17G --gpus-per-task=1 --ntasks=1 SCRIPT"));
}

TEST(Estimate, TheReportIsOfTheRequestThatWasRead) {
  const Environment environment;
  const std::vector<Verb> verbs;
  const Invocation asked{environment, verbs, {{"params", "7e9"}, {"gpus", "4"}}, {}};
  EXPECT_EQ(ParametersOf(asked).value(), 7'000'000'000U);
  EXPECT_EQ(CountOf(asked, "tp", 1).value(), 1U);
  const EstimateRequest request = ReadEstimateRequest(asked).value();
  const TrainingEstimate estimate = EstimateTraining(request);
  EXPECT_EQ(estimate.memory.total, Bytes(112'000'000'000));
  EXPECT_EQ(Json::parse(TrainingDocument(request, estimate))["gpus"], 4);
}

TEST(Estimate, EveryOptionHasItsHelp) {
  for (const Option& option : EstimateOptions()) {
    EXPECT_FALSE(option.text.empty()) << option.name;
  }
}

TEST(Estimate, MemoryIsAskedInWholeGiBWithATenthMore) {
  EXPECT_EQ(MemoryToAsk(Bytes(10 << 20)), Bytes(1ULL << 30));
  EXPECT_EQ(MemoryToAsk(Bytes(10ULL << 30)), Bytes(11ULL << 30));
  EXPECT_EQ(MemoryToAsk(Bytes((10ULL << 30) + 1)), Bytes(12ULL << 30)) << "never less";
}

TEST(Estimate, ScriptsGoWithSubmitAndWhatFitsNowhereIsNotSubmitted) {
  EXPECT_THAT(Estimate({"--params", "1e9", "train.sh"}).err,
              HasSubstr("a script goes with --submit"));
  EXPECT_THAT(Estimate({"--params", "1e9", "--submit"}).err,
              HasSubstr("--submit: name the script"));
  const ProgramEnd large = Estimate({"--params", "70e9", "--submit", "train.sh"});
  EXPECT_EQ(large.code, 1);
  EXPECT_THAT(large.err, HasSubstr("no type of GPU has the "));
  EXPECT_EQ(large.err.find('\n'), large.err.size() - 1);
}

}  // namespace
}  // namespace muster::cli
