#include "cli/request/job_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

const ParseContext kContext{.now = Time(std::chrono::milliseconds(1'773'480'413'000)),
                            .zone = absl::UTCTimeZone()};

absl::StatusOr<JobRequest> Read(const std::map<std::string, std::string>& values,
                                const std::string& script = "") {
  const auto lines = ParseDirectives(script);
  const auto given = ReadDirectives(*lines, "job.sh");
  if (!given.ok()) {
    return given.status();
  }
  return ReadJobOptions(values, *given, JobVerb::kSubmit, kContext);
}

std::string Error(const std::map<std::string, std::string>& values,
                  const std::string& script = "") {
  const auto request = Read(values, script);
  EXPECT_TRUE(absl::IsInvalidArgument(request.status())) << request.status();
  return std::string(request.status().message());
}

TEST(JobOptions, FillTheSpec) {
  const JobRequest request = Read({{"nodes", "2-4"},
                                   {"ntasks", "8"},
                                   {"cpus-per-task", "3"},
                                   {"mem", "4G"},
                                   {"gpus-per-node", "h100:2"},
                                   {"time", "1:00:00"},
                                   {"array", "0-9%2"},
                                   {"hold", ""},
                                   {"exclusive", ""},
                                   {"nice", "5"},
                                   {"begin", "now+1minute"},
                                   {"output", "out-%j"},
                                   {"open-mode", "append"},
                                   {"mpi", "none"},
                                   {"job-name", "Grüße"}})
                                 .value();
  EXPECT_EQ(request.spec.request.min_nodes, 2U);
  EXPECT_EQ(request.spec.request.max_nodes, 4U);
  EXPECT_EQ(request.spec.request.tasks, 8U);
  EXPECT_EQ(request.spec.request.cpus_per_task, 3U);
  EXPECT_EQ(request.spec.request.memory_per_node, kGibibyte * 4);
  EXPECT_EQ(request.spec.request.gpus_per_node, (GpuRequest{"h100", 2}));
  EXPECT_TRUE(request.spec.request.exclusive);
  EXPECT_EQ(request.spec.time_limit, std::chrono::hours(1));
  EXPECT_EQ(request.spec.array->max_running, 2U);
  EXPECT_TRUE(request.spec.held);
  EXPECT_EQ(request.spec.nice, 5);
  EXPECT_EQ(request.spec.begin, kContext.now + std::chrono::minutes(1));
  EXPECT_EQ(request.program.stdout_path, "out-%j");
  EXPECT_TRUE(request.program.append_output);
  EXPECT_EQ(request.program.mpi, MpiFlavour::kNone);
  EXPECT_EQ(request.spec.name, "Grüße");
}

TEST(JobOptions, HugePagesAreCountedBesideOtherThings) {
  const auto gres_of = [](const std::map<std::string, std::string>& values,
                          const std::string& script = "") {
    return ToText(Read(values, script).value().spec.request.gres);
  };
  EXPECT_EQ(gres_of({{"hugepages", "4G"}}), "hugepages-2M:2048");
  EXPECT_EQ(gres_of({{"hugepages", "5G:1G"}, {"gres", "scratch:2"}}), "hugepages-1G:5,scratch:2");
  EXPECT_EQ(gres_of({{"hugepages", "3M"}}), "hugepages-2M:2") << "whole pages";
  EXPECT_EQ(gres_of({{"hugepages", "2G"}}, "#MUSTER --hugepages=8G:1G\n"), "hugepages-2M:1024")
      << "the command line goes before the script";
  for (const char* wrong :
       {"", "0", "-1G", "4G:0", "4G:3M", "4G:", "many", "4G:2M:1", "8191P:4K"}) {
    EXPECT_THAT(Error({{"hugepages", wrong}}), HasSubstr("write SIZE or SIZE:PAGE")) << wrong;
  }
}

TEST(JobOptions, TermsAreReadFromBoth) {
  const JobRequest request =
      Read({{"licenses", "ansys:2"}, {"no-requeue", ""}, {"exclude", "n9"}},
           "#SBATCH -d afterok:1:2 -C a&b -w n[1-2] --requeue --deadline=now+1hour\n"
           "#SBATCH --kill-on-invalid-dep=yes\n")
          .value();
  EXPECT_EQ(ToText(request.spec.dependency), "afterok:1,afterok:2");
  EXPECT_EQ(ToText(request.spec.request.constraint), "a&b");
  EXPECT_EQ(request.spec.request.nodelist, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(request.spec.request.exclude, std::vector<std::string>{"n9"});
  EXPECT_EQ(request.spec.licenses.front().count, 2U);
  EXPECT_EQ(request.spec.requeue, Choice::kNo);
  EXPECT_EQ(request.spec.kill_on_invalid_dep, Choice::kYes);
  EXPECT_EQ(request.spec.deadline, kContext.now + std::chrono::hours(1));
  EXPECT_THAT(Error({{"kill-on-invalid-dep", "maybe"}}), StartsWith("--kill-on-invalid-dep: "));
}

TEST(JobOptions, TheCommandLineWinsOverDirectives) {
  const JobRequest request =
      Read({{"ntasks", "1"}}, "#SBATCH -n 4 -J first\n#MUSTER -J second -Hc2\n").value();
  EXPECT_EQ(request.spec.request.tasks, 1U);
  EXPECT_EQ(request.spec.request.cpus_per_task, 2U);
  EXPECT_EQ(request.spec.name, "second");
  EXPECT_TRUE(request.spec.held);
}

TEST(JobOptions, AnOverriddenDirectiveIsNotEvenChecked) {
  EXPECT_TRUE(Read({{"mem-per-cpu", "1G"}}, "#SBATCH --mem=4G\n")
                  .value()
                  .spec.request.memory_per_node.zero())
      << "--mem-per-cpu replaces a directive's --mem";
}

TEST(JobOptions, ErrorsSayWhere) {
  EXPECT_THAT(Error({{"mem", "10Q"}}), StartsWith("--mem: \"10Q\" is not a size"));
  EXPECT_THAT(Error({}, "#!/bin/sh\n#SBATCH --mem=10Q\n"),
              StartsWith("job.sh:2: --mem: \"10Q\" is not a size"));
  EXPECT_THAT(Error({}, "#!/bin/sh\n\n#SBATCH --frobnicate=1\n"),
              StartsWith("job.sh:3: \"--frobnicate=1\" is not an option"));
  EXPECT_THAT(Error({}, "#SBATCH -n\n"), StartsWith("job.sh:1: --ntasks: needs a value"));
  EXPECT_THAT(Error({}, "#SBATCH --hold=yes\n"), StartsWith("job.sh:1: --hold: takes no value"));
  EXPECT_THAT(Error({}, "#SBATCH 4\n"), StartsWith("job.sh:1: \"4\" is not an option"));
  EXPECT_EQ(Error({{"mem", "1G"}, {"mem-per-cpu", "1G"}}),
            "--mem and --mem-per-cpu exclude each other: give one");
}

TEST(JobOptions, FewSwitchesAreWaitedForAsLongAsIsSaid) {
  EXPECT_EQ(Read({{"switches", "2"}})->spec.request.switches, 2U);
  EXPECT_EQ(Read({{"switches", "2"}})->spec.request.switches_wait, std::chrono::minutes(5));
  EXPECT_EQ(Read({{"switches", "1@1:30:00"}})->spec.request.switches_wait,
            std::chrono::minutes(90));
  for (const char* wrong : {"0", "x", "1@", "1@soon", "@5", "-1"}) {
    EXPECT_THAT(Error({{"switches", wrong}}), HasSubstr("is not a number of leaf switches"))
        << wrong;
  }
}

TEST(JobOptions, MemoryForEachGpuIsTheTasksOrTheNodes) {
  const auto asks = [](std::map<std::string, std::string> values) {
    values["mem-per-gpu"] = "3G";
    return Read(values)->spec.request;
  };
  EXPECT_EQ(asks({{"ntasks", "4"}, {"gpus-per-task", "2"}, {"cpus-per-task", "2"}}).memory_per_cpu,
            kGibibyte * 3);
  EXPECT_EQ(asks({{"gpus-per-node", "4"}}).memory_per_node, kGibibyte * 12);
  EXPECT_EQ(asks({{"ntasks", "2"}, {"gpus", "4"}}).memory_per_cpu, kGibibyte * 6);
  EXPECT_EQ(asks({{"ntasks", "3"}, {"gpus", "4"}}).memory_per_node, kGibibyte * 12);
  EXPECT_EQ(asks({{"gpu-share", "0.5"}}).memory_per_cpu, kGibibyte * 3);
  EXPECT_EQ(Error({{"mem-per-gpu", "3G"}}), "--mem-per-gpu: the job asks for no GPUs; say --mem");
  EXPECT_EQ(Error({{"mem-per-gpu", "3G"}, {"mem", "1G"}, {"gpus", "1"}}),
            "--mem-per-gpu: excludes --mem and --mem-per-cpu: give one of them");
}

TEST(JobOptions, MemoryOfGpusGoesWithTheGpusThatAreAskedFor) {
  EXPECT_EQ(Read({{"gpus-per-node", "a100:4"}, {"gpu-memory", "80G"}})->spec.request.gpus_per_node,
            (GpuRequest{"a100", 4, kGibibyte * 80}));
  EXPECT_EQ(Read({{"gpus", "2"}, {"gpu-memory", "40G"}})->spec.request.gpus,
            (GpuRequest{"", 2, kGibibyte * 40}));
  EXPECT_EQ(Read({{"gpu-share", "0.5"}, {"gpu-memory", "40G"}})->spec.request.gpus_per_task,
            (GpuRequest{"", 1, kGibibyte * 40}));
  EXPECT_EQ(Error({{"gpu-memory", "40G"}}),
            "--gpu-memory: the job asks for no GPUs; say how many: --gpus=1");
}

TEST(JobOptions, TheCheckpointIntervalIsSecondsForTheSupervisor) {
  EXPECT_EQ(Read({{"checkpoint-interval", "15m"}})->checkpoint_interval, "900");
  EXPECT_EQ(Read({{"checkpoint-interval", "90s"}})->checkpoint_interval, "90");
  EXPECT_EQ(Read({{"checkpoint-interval", "auto"}})->checkpoint_interval, "auto");
  EXPECT_EQ(Read({}, "#MUSTER --checkpoint-interval=1h\n")->checkpoint_interval, "3600");
  EXPECT_EQ(Error({{"checkpoint-interval", "400d"}}),
            "--checkpoint-interval: \"400d\" is no interval: use 1s to 366d, or auto");
  EXPECT_THAT(Error({{"checkpoint-interval", "often"}}), StartsWith("--checkpoint-interval: "));
  EXPECT_THAT(Error({{"checkpoint-interval", "0"}}), HasSubstr("is no interval"));
  EXPECT_THAT(Error({{"checkpoint-dir", ""}}), StartsWith("--checkpoint-dir: "));
}

TEST(JobOptions, WhoMakesTheCheckpointsIsTheProgramOrCriu) {
  EXPECT_EQ(Read({})->spec.checkpoint_with, CheckpointMeans::kProgram);
  EXPECT_EQ(Read({{"checkpoint-with", "criu"}})->spec.checkpoint_with, CheckpointMeans::kCriu);
  EXPECT_EQ(Read({}, "#MUSTER --checkpoint-with=criu\n")->spec.checkpoint_with,
            CheckpointMeans::kCriu);
  EXPECT_EQ(Read({{"checkpoint-with", "program"}}, "#MUSTER --checkpoint-with=criu\n")
                ->spec.checkpoint_with,
            CheckpointMeans::kProgram);
  EXPECT_EQ(Error({{"checkpoint-with", "luck"}}),
            "--checkpoint-with: \"luck\" is not one of program, criu");
}

TEST(JobOptions, TheWarningBeforeTheEndIsSlurmsSignal) {
  EXPECT_EQ(Read({{"signal", "B:TERM@120"}})->spec.warning,
            (WarningSignal{15, std::chrono::seconds(120), false, true}));
  EXPECT_EQ(Read({}, "#SBATCH --signal=USR1@auto\n")->spec.warning,
            (WarningSignal{10, std::chrono::seconds(60), true, false}));
  EXPECT_THAT(Error({{"signal", "LUCK"}}), StartsWith("--signal: \"LUCK\" is no warning: use "));
  EXPECT_THAT(Error({}, "#SBATCH --signal=USR1@\n"), StartsWith("job.sh:1: --signal: "));
}

TEST(JobOptions, WhatNodesHaveAndWhatIsPreferredIsRead) {
  const JobRequest request =
      Read({{"time-min", "1:00:00"}, {"prefer", "fast"}},
           "#SBATCH --tmp=1G --mincpus=8 -B 2:4 --gpus-per-socket=a100:2 --priority=7 --nice=-3\n")
          .value();
  EXPECT_EQ(request.spec.time_min, std::chrono::hours(1));
  EXPECT_EQ(ToText(request.spec.prefer), "fast");
  EXPECT_EQ(request.spec.request.tmp, kGibibyte);
  EXPECT_EQ(request.spec.request.min_cpus, 8U);
  EXPECT_EQ(request.spec.request.sockets_per_node, 2U);
  EXPECT_EQ(request.spec.request.gpus_per_node, (GpuRequest{"a100", 4}));
  EXPECT_EQ(request.spec.priority, 7U);
  EXPECT_EQ(request.spec.nice, -3);
  EXPECT_EQ(Error({}, "#SBATCH --gpus-per-socket=1\n"),
            "--gpus-per-socket: say on how many sockets: add --sockets-per-node");
}

TEST(JobOptions, ASlurmOptionThatChangesNothingIsKeptAndNeverStopsAScript) {
  EXPECT_THAT(Read({}, "#SBATCH --mail-type=END\n#SBATCH --contiguous -S2\n")->spec.recorded,
              ElementsAre("mail-type=END", "contiguous", "core-spec=2"));
  EXPECT_THAT(Read({{"mail-type", "FAIL"}}, "#SBATCH --mail-type=END --wckey=x\n")->spec.recorded,
              ElementsAre("wckey=x", "mail-type=FAIL"));
}

TEST(JobOptions, ASlurmOptionThatWouldChangeTheResultIsRefused) {
  EXPECT_EQ(Error({}, "#SBATCH --bb=x\n"), "job.sh:1: --bb: is not done here: leave it out");
  EXPECT_THAT(Error({}, "#SBATCH --unheard-of\n"), HasSubstr("is not an option"));
}

TEST(JobOptions, SlurmsDirectivesAreReadAsSlurmReadsThem) {
  const JobRequest request =
      Read({}, "#SBATCH --time 0:7200 --mem=4GB -k --exclusive=user --gpus 0 --qos=\n").value();
  EXPECT_EQ(request.spec.time_limit, std::chrono::hours(2));
  EXPECT_EQ(request.spec.request.memory_per_node, kGibibyte * 4);
  EXPECT_TRUE(request.spec.request.exclusive_user);
  EXPECT_FALSE(request.spec.request.exclusive);
  EXPECT_TRUE(request.spec.no_kill);
  EXPECT_EQ(request.spec.request.gpus.count, 0U);
  EXPECT_FALSE(Read({}, "#MUSTER --time=0:7200\n").ok()) << "our own grammar stays strict";
  EXPECT_TRUE(Read({}, "#SBATCH --gpu-share=0.5\n").ok()) << "our options in Slurm's lines";
}

TEST(JobOptions, GpusThatOthersUseAreTakenWhereTheJobSaysSo) {
  EXPECT_FALSE(Read({}, "#SBATCH --gpus=1\n")->spec.request.gpu_occupied);
  EXPECT_TRUE(Read({}, "#SBATCH --gpus=1 --gpu-occupied=ok\n")->spec.request.gpu_occupied);
  EXPECT_FALSE(
      Read({{"gpu-occupied", "no"}}, "#MUSTER --gpu-occupied=ok\n")->spec.request.gpu_occupied);
  EXPECT_EQ(Error({}, "#MUSTER --gpu-occupied=maybe\n"),
            "job.sh:1: --gpu-occupied: \"maybe\" is not one of ok, no");
}

TEST(JobOptions, TheRequestKnowsWhichOptionsWereGiven) {
  EXPECT_THAT(Read({{"ntasks", "2"}}, "#SBATCH -c 2\n")->said,
              UnorderedElementsAre("ntasks", "cpus-per-task"));
}

TEST(JobOptions, TheEnvironmentGivesWhatSlurmsVariablesDo) {
  const Environment environment(
      std::vector<std::string>{"SBATCH_TIMELIMIT=90:00", "SBATCH_MEM_PER_NODE=2GB",
                               "SBATCH_REQUEUE=1", "SBATCH_WAIT=0", "SBATCH_WCKEY=x"});
  const std::vector<GivenOption> given = OptionsFrom(environment, JobVerb::kSubmit).value();
  EXPECT_THAT(given, UnorderedElementsAre(GivenOption{"time", "01:30:00", "SBATCH_TIMELIMIT"},
                                          GivenOption{"mem", "2G", "SBATCH_MEM_PER_NODE"},
                                          GivenOption{"requeue", "", "SBATCH_REQUEUE"},
                                          GivenOption{"recorded", "wckey=x", "SBATCH_WCKEY"}));
  EXPECT_TRUE(OptionsFrom(environment, JobVerb::kAlloc)->empty());
  EXPECT_FALSE(
      OptionsFrom(Environment(std::vector<std::string>{"SBATCH_CONTAINER_ID=x"}), JobVerb::kSubmit)
          .ok());
  EXPECT_THAT(
      *OptionsFrom(Environment(std::vector<std::string>{"SBATCH_CONTAINER=x"}), JobVerb::kSubmit),
      UnorderedElementsAre(GivenOption{"container", "x", "SBATCH_CONTAINER"}));
}

TEST(JobOptions, AContainerIsAskedForByPyxissNames) {
  const JobRequest request =
      Read({{"container-image", "alpine:3"}, {"container-mounts", "/a:/b:ro"}},
           "#SBATCH --container-image=other --container-writable --container-env=A,B\n")
          .value();
  EXPECT_EQ(request.spec.container.image, "alpine:3");
  EXPECT_EQ(request.spec.container.mounts, (std::vector<ContainerMount>{{"/a", "/b", true}}));
  EXPECT_TRUE(request.spec.container.writable);
  EXPECT_THAT(request.spec.container.env, UnorderedElementsAre("A", "B"));
  EXPECT_EQ(Read({{"container", "/b"}})->spec.container.image, "bundle:/b");
  EXPECT_EQ(Read({{"container-save", "/f.sqsh"}})->spec.container.save, "/f.sqsh");
  EXPECT_FALSE(Read({{"container-mount-home", ""}, {"no-container-mount-home", ""}}).ok());
}

TEST(JobOptions, CpusForEachGpuAreTheTasks) {
  const auto cpus = [](std::map<std::string, std::string> values) {
    values["cpus-per-gpu"] = "3";
    return Read(values)->spec.request.cpus_per_task;
  };
  EXPECT_EQ(cpus({{"gpus-per-task", "2"}}), 6U);
  EXPECT_EQ(cpus({{"gpus-per-node", "4"}, {"ntasks-per-node", "2"}}), 6U);
  EXPECT_EQ(cpus({{"gpus", "4"}, {"ntasks", "3"}}), 4U);
  EXPECT_EQ(Error({{"cpus-per-gpu", "3"}}), "--cpus-per-gpu: the job asks for no GPUs; say -c");
}

TEST(JobOptions, PolicyIsNamedAndRequeueIsSaidOnce) {
  EXPECT_THAT(Error({{"partition", "a,,b"}}), StartsWith("--partition: \"\" is not a name"));
  EXPECT_EQ(Read({{"partition", "a,b"}, {"qos", "high"}, {"reservation", "exam"}})->spec.partition,
            "a,b");
  EXPECT_TRUE(Read({{"partition", "main"}}).ok());
  EXPECT_FALSE(Read({{"requeue", ""}, {"no-requeue", ""}}).ok());
  EXPECT_EQ(Read({{"requeue-exit", "99"}})->spec.requeue_exit, 99U);
  EXPECT_EQ(Read({{"requeue-exit", "none"}})->spec.requeue_exit, kNoRequeueExit);
  for (const char* wrong : {"0", "256", "-1", "x", ""}) {
    EXPECT_THAT(Error({{"requeue-exit", wrong}}), HasSubstr("is not an exit code")) << wrong;
  }
}

TEST(JobOptions, NamesAreCheckedText) {
  EXPECT_THAT(Error({{"job-name", std::string(1 << 20, 'a')}}), StartsWith("--job-name: \"aaa"));
  EXPECT_LT(Error({{"job-name", std::string(1 << 20, 'a')}}).size(), 200U);
  EXPECT_FALSE(Read({{"job-name", std::string("a\0b", 3)}}).ok());
  EXPECT_FALSE(Read({{"job-name", "a\nb"}}).ok());
  EXPECT_FALSE(Read({{"output", ""}}).ok());
}

TEST(JobOptions, AShareOfAGpuBySizeIsForTheControllerToTurnIntoAPart) {
  EXPECT_FALSE(Read({{"gpu-share", "20"}}).ok());
  EXPECT_FALSE(Read({{"gpu-share", "20X"}}).ok());
  const JobRequest request = Read({{"gpu-share", "6G"}}).value();
  EXPECT_EQ(request.spec.request.gpu_share_memory, kGibibyte * 6);
  EXPECT_GT(request.spec.request.gpu_share, kWholeGpu) << "no controller takes it as a part";
  EXPECT_FALSE(RefuseShareSize(request).ok());
  const JobRequest either = Read({{"gpu-share", "6G"}, {"alt", "-n 1|-n 2"}}).value();
  EXPECT_EQ(either.spec.alternatives[1].request.gpu_share_memory, kGibibyte * 6);
}

TEST(JobOptions, EveryLetterAndNameIsUnique) {
  for (const JobVerb verb : {JobVerb::kSubmit, JobVerb::kRun, JobVerb::kAlloc}) {
    std::map<std::string, int> seen;
    for (const Option& option : JobOptions(verb)) {
      EXPECT_EQ(++seen["--" + option.name], 1) << option.name;
      if (option.letter != 0) {
        EXPECT_EQ(++seen[std::string("-") + option.letter], 1) << option.letter;
      }
    }
  }
}

TEST(JobOptions, FilesToStageAddUpOverTheScriptAndTheCommandLine) {
  const JobRequest request =
      Read({{"stage-in", "c:/c\ns3:b/d:/d"}}, "#MUSTER --stage-in a:/a\n#MUSTER --stage-in b:/b\n")
          .value();
  EXPECT_THAT(request.program.stage_in,
              ElementsAre(StagePair{"a", "/a"}, StagePair{"b", "/b"}, StagePair{"c", "/c"},
                          StagePair{"s3:b/d", "/d"}));
  EXPECT_THAT(Error({}, "#MUSTER --stage-out results\n"),
              StartsWith("job.sh:1: --stage-out: \"results\" does not say"));
}

}  // namespace
}  // namespace muster::cli
