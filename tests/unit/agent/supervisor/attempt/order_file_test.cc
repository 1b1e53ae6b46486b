#include "agent/supervisor/attempt/order_file.h"

#include <gtest/gtest.h>

#include "proto/supervisor.pb.h"

namespace muster::agent {
namespace {

wire::SupervisorOrder Message() {
  wire::SupervisorOrder message;
  message.mutable_launch()->set_job(7);
  message.mutable_launch()->mutable_spec()->set_name("prefix");
  message.mutable_launch()->mutable_allocation();
  message.mutable_launch()->mutable_program();
  message.mutable_machine()->set_memory(1 << 20);
  message.set_node_name("n1");
  message.set_doorbell("/state/doorbell");
  message.set_module_dir("/lib/muster");
  message.set_cgroup("/sys/fs/cgroup/muster");
  message.set_controller("unix:/run/muster.sock");
  message.mutable_limits()->add_held("cpuset");
  wire::MissingLimit* const missing = message.mutable_limits()->add_missing();
  missing->set_what("io");
  missing->set_why("it is not offered");
  message.mutable_limits()->set_pids(900);
  message.mutable_limits()->set_memory_high(95);
  wire::DeviceNodes* const nodes = message.mutable_limits()->add_devices();
  nodes->set_major(195);
  nodes->set_first_minor(2);
  nodes->set_last_minor(3);
  nodes->add_gpus(0);
  nodes->add_gpus(300);
  message.mutable_limits()->add_huge_pages("hugepages-2M");
  wire::NetworkClass* const network = message.add_network();
  network->set_name("staging");
  network->add_nics("eth1");
  network->set_dscp(10);
  network->set_rate(1000);
  message.mutable_scripts()->mutable_prolog()->set_program("/etc/prolog");
  message.mutable_scripts()->mutable_prolog()->set_as_user(true);
  message.mutable_scripts()->mutable_prolog()->set_time_limit(5000);
  message.mutable_scripts()->mutable_epilog();
  message.mutable_scripts()->mutable_step_prolog();
  message.mutable_scripts()->mutable_step_epilog()->set_program("/etc/step_epilog");
  message.set_private_tmp(true);
  message.set_lease_until(-1);
  message.set_pmix_patterns("/state/patterns");
  message.mutable_containers()->set_runtime("/usr/bin/crun");
  message.mutable_staging()->set_program("/usr/bin/muster");
  return message;
}

// An attempt may outlive the upgrade of its agent, and the agent's part of it be older than that of
// the supervisor.
TEST(OrderFileTest, ReadsWhatProtobufWrote) {
  const absl::StatusOr<SupervisorOrder> order = DecodeOrder(Message().SerializeAsString());
  ASSERT_TRUE(order.ok()) << order.status();
  EXPECT_EQ(order->launch.job, JobId(7));
  EXPECT_EQ(order->node_name, "n1");
  EXPECT_EQ(order->agent_socket, "/state/doorbell");
  EXPECT_EQ(order->module_dir, "/lib/muster");
  EXPECT_EQ(order->cgroup, "/sys/fs/cgroup/muster");
  EXPECT_EQ(order->controller, "unix:/run/muster.sock");
  const NodeLimits limits{{{"cpuset"}, {{"io", "it is not offered"}}},
                          900,
                          95,
                          {{195, 2, 3, {0, 300}}},
                          {"hugepages-2M"}};
  EXPECT_EQ(order->limits, limits);
  EXPECT_EQ(order->network, (NetworkClasses{{"staging", {"eth1"}, 10, 1000}}));
  EXPECT_EQ(order->scripts.prolog.program, "/etc/prolog");
  EXPECT_TRUE(order->scripts.prolog.as_user);
  EXPECT_EQ(order->scripts.prolog.time_limit, Duration(5000));
  EXPECT_FALSE(order->scripts.epilog.given());
  EXPECT_EQ(order->scripts.step_epilog.program, "/etc/step_epilog");
  EXPECT_TRUE(order->private_tmp);
  EXPECT_EQ(order->lease_until_ms, -1);
  EXPECT_EQ(order->pmix_patterns, "/state/patterns");
  EXPECT_EQ(order->containers.runtime, "/usr/bin/crun");
  EXPECT_EQ(order->staging.program, "/usr/bin/muster");
}

TEST(OrderFileTest, WritesWhatProtobufReads) {
  const absl::StatusOr<SupervisorOrder> order = DecodeOrder(Message().SerializeAsString());
  ASSERT_TRUE(order.ok()) << order.status();
  wire::SupervisorOrder read;
  ASSERT_TRUE(read.ParseFromString(EncodeOrder(*order)));
  EXPECT_EQ(read.launch().job(), 7U);
  EXPECT_EQ(read.launch().spec().name(), "prefix");
  EXPECT_EQ(read.machine().memory(), 1U << 20U);
  wire::SupervisorOrder written = Message();
  for (wire::SupervisorOrder* const message : {&read, &written}) {
    message->clear_launch();  // convert_test has these
    message->clear_machine();
  }
  EXPECT_EQ(read.SerializeAsString(), written.SerializeAsString());
}

TEST(OrderFileTest, BytesThatAreNoOrderAreDataLoss) {
  EXPECT_EQ(DecodeOrder("\x0a\x7fno").status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace muster::agent
