#include "cli/connect/ssh_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

TEST(SshFiles, AServersKeyIsKnownOnceAndTheOldestGo) {
  const std::string one = *WithServer("", "ssh-ed25519 AAAA1");
  EXPECT_EQ(one, "muster-* ssh-ed25519 AAAA1\n");
  EXPECT_EQ(*WithServer(one, "ssh-ed25519 AAAA1"), one);
  std::string text;
  for (std::size_t i = 0; i <= kKnownMax; ++i) {
    text = *WithServer(text, absl::StrCat("ssh-ed25519 AAAA", i));
  }
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.size(), kKnownMax);
  EXPECT_EQ(lines.front(), "muster-* ssh-ed25519 AAAA1");
}

TEST(SshFiles, WhatIsNoKeyIsNotWritten) {
  for (const char* key : {"", "ssh-rsa AAAA", "ssh-ed25519 A\n* ssh-ed25519 B"}) {
    EXPECT_FALSE(WithServer("", key).ok()) << key;
  }
}

TEST(SshFiles, AHostIsNamedAfterItsJob) {
  EXPECT_EQ(JobOfHost("muster-12_3"), "12_3");
  EXPECT_EQ(JobOfHost("last"), "last");
}

TEST(SshFiles, TheLinesForSshInsistOnTheServersKey) {
  const std::string text = SshConfig({"/home/a b/100%"}, {"/opt/my muster", "connect"});
  EXPECT_THAT(text, HasSubstr("Host muster-*\n  ProxyCommand '/opt/my muster' connect %h\n"));
  EXPECT_THAT(text, HasSubstr("IdentityFile \"/home/a b/100%%/id_ed25519\"\n"));
  EXPECT_THAT(text, HasSubstr("StrictHostKeyChecking yes\n"));
}

}  // namespace
}  // namespace muster::cli
