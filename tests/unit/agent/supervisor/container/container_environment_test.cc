#include "agent/supervisor/container/container_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/supervisor/container/job_devices.h"

namespace muster::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(ContainerEnvironment, TheImageGoesBeforeTheShellUnlessAVariableIsKept) {
  ContainerVariables variables{.image = {"PATH=/image", "LANG=C"},
                               .submitter = {"PATH=/shell", "LANG=de"},
                               .kept = {"LANG"},
                               .work_dir = "/w"};
  const std::vector<std::string> made =
      InContainer({"PATH=/shell", "LANG=de", "PWD=/outside"}, variables);
  EXPECT_THAT(made, Contains("PATH=/image"));
  EXPECT_THAT(made, Contains("LANG=de"));
  EXPECT_THAT(made, Contains("PWD=/w"));
}

TEST(ContainerEnvironment, WhatDescribesTheJobIsNeverTheImages) {
  const std::vector<std::string> made =
      InContainer({"RANK=3", "CUDA_VISIBLE_DEVICES=GPU-a", "A=1"},
                  {.image = {"RANK=0", "CUDA_VISIBLE_DEVICES=all", "B=2", "NONSENSE"},
                   .submitter = {"A=1"},
                   .kept = {},
                   .work_dir = "/"});
  EXPECT_THAT(made, Contains("RANK=3"));
  EXPECT_THAT(made, Contains("CUDA_VISIBLE_DEVICES=GPU-a"));
  EXPECT_THAT(made, Contains("A=1"));
  EXPECT_THAT(made, Contains("B=2"));
  EXPECT_THAT(made, Contains("LD_LIBRARY_PATH=/usr/local/nvidia/lib64"));
}

TEST(ContainerEnvironment, LaunchersInsideStartWhatIsThereOfTheNodesPrograms) {
  const ContainerVariables there{.image = {},
                                 .submitter = {"OMPI_MCA_plm_rsh_agent=/l/muster-rsh"},
                                 .kept = {},
                                 .work_dir = "/",
                                 .rank_program = "/l/muster-rank",
                                 .remote_shell = "/l/muster-rsh"};
  const std::vector<std::string> own = {
      "OMPI_MCA_orte_fork_agent=/l/muster-rank", "OMPI_MCA_plm_rsh_agent=/l/muster-rsh",
      "OMPI_MCA_orte_default_hostfile=/s/hostfile", "HYDRA_LAUNCHER_EXEC=/l/muster-rsh",
      "MUSTER_CHECKPOINT_FLUSH=/l/flush"};
  EXPECT_THAT(InContainer(own, there),
              ElementsAre("HYDRA_LAUNCHER=fork", "HYDRA_LAUNCHER_EXEC=/.muster-rsh",
                          "OMPI_MCA_orte_default_hostfile=/s/hostfile",
                          "OMPI_MCA_orte_fork_agent=/.muster-rank",
                          "OMPI_MCA_plm_rsh_agent=/.muster-rsh", "PWD=/"));
}

TEST(ContainerEnvironment, LaunchersInsideStartNoProgramOfTheNodeThatIsNotThere) {
  const ContainerVariables none{.image = {}, .submitter = {}, .kept = {}, .work_dir = "/"};
  EXPECT_THAT(InContainer({"OMPI_MCA_orte_fork_agent=/usr/libexec/muster/muster-rank"}, none),
              ElementsAre("HYDRA_LAUNCHER=fork", "PWD=/"));
  ContainerVariables own = none;
  own.submitter = {"OMPI_MCA_plm_rsh_agent=/my/ssh"};
  EXPECT_THAT(InContainer(own.submitter, own), Contains("OMPI_MCA_plm_rsh_agent=/my/ssh"));
}

TEST(JobDevices, AJobSeesTheFilesOfItsOwnGpus) {
  const std::vector<DeviceFile> files = {{"/dev/infiniband/uverbs0", 231, 192},
                                         {"/dev/nvidia0", 195, 0},
                                         {"/dev/nvidia1", 195, 1},
                                         {"/dev/nvidia2", 195, 2},
                                         {"/dev/nvidiactl", 195, 255},
                                         {"/dev/nvidia-uvm", 238, 0}};
  // As the driver's are found: the last is for GPUs that are none of ours.
  const std::vector<topology::DeviceNodes> rules = {
      {195, 0, 0, {0}}, {195, 1, 1, {1}}, {195, 0, 253, {}}};
  EXPECT_THAT(FilesOfJob(files, rules, {1}), ElementsAre("/dev/infiniband/uverbs0", "/dev/nvidia1",
                                                         "/dev/nvidiactl", "/dev/nvidia-uvm"));
  EXPECT_THAT(FilesOfJob(files, rules, {}), ElementsAre("/dev/infiniband/uverbs0"));
  EXPECT_THAT(FilesOfJob({{"/dev/nvidia0", 195, 0}}, {}, {}), IsEmpty());
  for (const DeviceFile& file : FindDeviceFiles()) {
    EXPECT_THAT(file.path, Not("/dev/null"));
  }
}

TEST(JobDevices, AGpuIsCalledByItsDriversNumberAndItsUuid) {
  Machine machine;
  machine.gpus.resize(2);
  machine.gpus[1].os_index = 5;
  machine.gpus[1].uuid = "GPU-b";
  NodeAllocation part;
  part.gpus.resize(2);
  part.gpus[0].gpu = 1;
  part.gpus[1].gpu = 9;  // the machine has no such one
  EXPECT_THAT(GpusOf(machine, part), ElementsAre(ContainerGpu{5, "GPU-b"}));
}

}  // namespace
}  // namespace muster::agent
