#include "topology/captured/fabric_name.h"

#include <gtest/gtest.h>

namespace muster::topology {
namespace {

TEST(FabricName, DriversAndUdevsNamesOfVerbsDevicesAre) {
  for (const char* name : {"mlx5_0", "mlx5_bond_0", "hfi1_0", "rocep59s0f1", "rdmap0s6", "efa_0"}) {
    EXPECT_TRUE(IsFabricName(name)) << name;
  }
}

TEST(FabricName, NetworkInterfacesAndAddressesAreNot) {
  for (const char* name : {"eth0", "ib0", "ibp59s0", "enp59s0f0", "bond0", "0103:00:00.0", ""}) {
    EXPECT_FALSE(IsFabricName(name)) << name;
  }
}

}  // namespace
}  // namespace muster::topology
