#include "scheduler/runtime/passed_descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

struct Pair {
  Pair() {
    std::array<int, 2> fds = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()), 0);
    one.reset(fds[0]);
    other.reset(fds[1]);
  }
  UniqueFd one;
  UniqueFd other;
};

UniqueFd FileWith(const std::string& text) {
  UniqueFd file(memfd_create("passed", MFD_CLOEXEC));
  EXPECT_EQ(write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return file;
}

std::string ContentOf(const UniqueFd& file) {
  std::array<char, 16> bytes = {};
  const ssize_t got = pread(file.get(), bytes.data(), bytes.size(), 0);
  return {bytes.data(), static_cast<std::size_t>(got < 0 ? 0 : got)};
}

TEST(PassedDescriptors, BytesAndFilesArriveInTheirOrder) {
  const Pair pair;
  const UniqueFd first = FileWith("first");
  const UniqueFd second = FileWith("second");
  const std::array<int, 2> sent = {first.get(), second.get()};
  ASSERT_TRUE(SendWithDescriptors(pair.one.get(), "two files", sent));
  std::array<char, 64> place = {};
  const ReceivedMessage received = ReceiveWithDescriptors(pair.other.get(), place);
  EXPECT_EQ(std::string(place.data(), static_cast<std::size_t>(received.size)), "two files");
  EXPECT_FALSE(received.cut);
  EXPECT_FALSE(received.lost);
  ASSERT_EQ(received.descriptors.size(), 2);
  EXPECT_EQ(ContentOf(received.descriptors[0]), "first");
  EXPECT_EQ(ContentOf(received.descriptors[1]), "second");
  EXPECT_EQ(fcntl(received.descriptors[0].get(), F_GETFD), FD_CLOEXEC);
}

TEST(PassedDescriptors, AMessageWithoutFilesIsOne) {
  const Pair pair;
  ASSERT_TRUE(SendWithDescriptors(pair.one.get(), "plain", {}));
  std::array<char, 64> place = {};
  const ReceivedMessage received = ReceiveWithDescriptors(pair.other.get(), place);
  EXPECT_EQ(received.size, 5);
  EXPECT_TRUE(received.descriptors.empty());
}

TEST(PassedDescriptors, NothingIsThereYetAndThenTheEnd) {
  Pair pair;
  std::array<char, 64> place = {};
  EXPECT_EQ(ReceiveWithDescriptors(pair.other.get(), place).size, -1);
  EXPECT_EQ(errno, EAGAIN);
  pair.one.reset();
  EXPECT_EQ(ReceiveWithDescriptors(pair.other.get(), place).size, 0);
  EXPECT_FALSE(SendWithDescriptors(pair.other.get(), "to nobody", {}));
  EXPECT_EQ(errno, EPIPE);
}

TEST(PassedDescriptors, WhatDoesNotFitIsToldAndNoFileIsLeftOpen) {
  const Pair pair;
  const UniqueFd file = FileWith("file");
  const std::vector<int> many(kPassedDescriptorsMax, file.get());
  ASSERT_TRUE(SendWithDescriptors(pair.one.get(), "longer than that", many));
  std::array<char, 4> place = {};
  int first = -1;
  {
    const ReceivedMessage received = ReceiveWithDescriptors(pair.other.get(), place);
    EXPECT_TRUE(received.cut);
    ASSERT_EQ(received.descriptors.size(), kPassedDescriptorsMax);
    first = received.descriptors[0].get();
  }
  EXPECT_EQ(fcntl(first, F_GETFD), -1);
  const std::vector<int> too_many(kPassedDescriptorsMax + 1, file.get());
  EXPECT_FALSE(SendWithDescriptors(pair.one.get(), "x", too_many));
  EXPECT_EQ(errno, EINVAL);
}

TEST(PassedDescriptors, WeAreTrustedByOurselvesAndAPipeIsNobody) {
  const Pair pair;
  EXPECT_TRUE(IsPeerRootOrSelf(pair.one.get()));
  EXPECT_FALSE(IsPeerRootOrSelf(FileWith("").get()));
}

}  // namespace
}  // namespace muster
