#include "cli/tell/desktop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

class DesktopTest : public ::testing::Test {
 protected:
  DesktopTest() {
    std::string pattern = "/tmp/muster-desktop-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~DesktopTest() override { std::filesystem::remove_all(directory_); }
  // A program of that name, which ends with the code.
  void Install(int code) {
    const std::string path = directory_ + "/notify-send";
    std::ofstream(path) << "#!/bin/sh\nprintf '%s|' \"$@\" > " << directory_ << "/said\n"
                        << "echo refused\nexit " << code << "\n";
    chmod(path.c_str(), 0755);
  }
  [[nodiscard]] Environment With(const std::string& bus) const {
    std::vector<std::string> entries = {"PATH=" + directory_};
    if (!bus.empty()) {
      entries.push_back(bus);
    }
    return Environment(entries);
  }
  [[nodiscard]] std::string Said() const {
    std::ifstream file(directory_ + "/said");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string directory_;
};

TEST_F(DesktopTest, WithoutTheProgramOrABusThereIsNone) {
  EXPECT_THAT(std::string(CheckDesktop(With("DBUS_SESSION_BUS_ADDRESS=x")).message()),
              HasSubstr("libnotify-bin"));
  Install(0);
  EXPECT_THAT(std::string(CheckDesktop(With("")).message()), HasSubstr("no session bus"));
  EXPECT_TRUE(CheckDesktop(With("DBUS_SESSION_BUS_ADDRESS=x")).ok());
  EXPECT_FALSE(CheckDesktop(With("XDG_RUNTIME_DIR=" + directory_)).ok());
  std::ofstream(directory_ + "/bus") << "";
  EXPECT_TRUE(CheckDesktop(With("XDG_RUNTIME_DIR=" + directory_)).ok());
}

TEST_F(DesktopTest, TheLineIsOneArgumentAndNoOption) {
  Install(0);
  EXPECT_TRUE(ShowOnDesktop(With("DBUS_SESSION_BUS_ADDRESS=x"), "--urgency=critical; rm").ok());
  EXPECT_THAT(Said(), HasSubstr("|--|Muster|--urgency=critical; rm|"));
}

TEST_F(DesktopTest, WhatTheProgramRefusesIsSaid) {
  Install(1);
  const absl::Status shown = ShowOnDesktop(With("DBUS_SESSION_BUS_ADDRESS=x"), "line");
  EXPECT_TRUE(absl::IsUnavailable(shown));
  EXPECT_THAT(std::string(shown.message()), HasSubstr("refused"));
}

}  // namespace
}  // namespace muster::cli
