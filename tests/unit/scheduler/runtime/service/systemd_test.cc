#include "scheduler/runtime/service/systemd.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

class ServiceManagerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = directory_ / "notify";
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    ASSERT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) {
      unsetenv(name);
    }
  }
  std::string Heard() {
    std::array<char, 1000> text{};
    const ssize_t size = recv(socket_.get(), text.data(), text.size(), MSG_DONTWAIT);
    return size < 0 ? "" : std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  TempDirectory directory_;
  UniqueFd socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(ServiceManagerTest, HearsOfReadinessAndOfTheEnd) {
  const ServiceManager manager = ServiceManager::FromEnvironment();
  manager.Ready("node n1 of cluster muster");
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=node n1 of cluster muster");
  manager.Reloading();
  EXPECT_EQ(Heard().find("RELOADING=1\nMONOTONIC_USEC="), 0U);
  manager.Stopping();
  EXPECT_EQ(Heard().find("STOPPING=1\n"), 0U);
}

TEST_F(ServiceManagerTest, AStatusCannotSayAnythingElse) {
  ServiceManager::FromEnvironment().Status("waiting\nREADY=1");
  EXPECT_EQ(Heard(), "STATUS=waiting READY=1");
}

TEST_F(ServiceManagerTest, IsFedTwiceInItsTime) {
  setenv("WATCHDOG_USEC", "4000000", 1);
  setenv("WATCHDOG_PID", absl::StrCat(getpid()).c_str(), 1);
  const ServiceManager manager = ServiceManager::FromEnvironment();
  EXPECT_EQ(manager.feed_every(), std::chrono::seconds(2));
  EXPECT_EQ(getenv("WATCHDOG_USEC"), nullptr) << "no child is to be fed for";
  manager.Alive();
  EXPECT_EQ(Heard(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, AWatchdogOfAnotherProcessIsNotOurs) {
  setenv("WATCHDOG_USEC", "4000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceManager::FromEnvironment().feed_every(), std::chrono::milliseconds(0));
}

TEST_F(ServiceManagerTest, NobodyIsToldOfAnything) {
  unsetenv("NOTIFY_SOCKET");
  ServiceManager manager = ServiceManager::FromEnvironment();
  manager.Ready("serving");
  manager.Alive();
  EXPECT_EQ(Heard(), "");
  EXPECT_TRUE(manager.TakeListeners().empty());
}

TEST(ServiceManager, WhatIsForOneProcessIsNotForItsChildren) {
  for (const char* ours :
       {"NOTIFY_SOCKET=/run/x", "LISTEN_FDS=1", "WATCHDOG_USEC", "JOURNAL_STREAM=8:1"}) {
    EXPECT_TRUE(ServiceManager::IsOurs(ours)) << ours;
  }
  for (const char* other : {"PATH=/bin", "LISTEN_FDS_X=1", "X=NOTIFY_SOCKET", ""}) {
    EXPECT_FALSE(ServiceManager::IsOurs(other)) << other;
  }
}

}  // namespace
}  // namespace muster
