#include "agent/node/network/socket_holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// A /proc of the test's own.
class Proc {
 public:
  void Link(const std::string& name, const std::string& target) const {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::create_symlink(target, path);
  }
  [[nodiscard]] const std::string& root() const { return directory_.path(); }

 private:
  TempDirectory directory_;
};

TEST(SocketHolders, ASocketIsTheTreesOfWhichAProcessHasItOpen) {
  const Proc proc;
  proc.Link("11/fd/0", "/dev/null");
  proc.Link("11/fd/3", "socket:[700]");
  proc.Link("12/fd/4", "socket:[701]");
  proc.Link("12/fd/5", "socket:[999]");
  proc.Link("21/fd/3", "socket:[702]");
  proc.Link("21/fd/4", "pipe:[700]");
  proc.Link("21/fd/5", "socket:[7x");
  EXPECT_THAT(HoldersOf({700, 701, 702, 703}, {{10, {11, 12, 13}}, {20, {21}}}, proc.root()),
              UnorderedElementsAre(Pair(700, 10), Pair(701, 10), Pair(702, 20)));
}

TEST(SocketHolders, OfAProcessWithManyDescriptorsSomeAreReadAndItsTreeIsSaidToBeCut) {
  const Proc proc;
  for (int fd = 0; fd < 30; ++fd) {
    proc.Link(absl::StrCat("11/fd/", fd), absl::StrCat("socket:[", 700 + fd, "]"));
  }
  proc.Link("21/fd/3", "socket:[800]");
  proc.Link("22/fd/3", "socket:[801]");
  HolderSearch search(proc.root(), {.descriptors = 10, .time = std::chrono::seconds(60)});
  std::unordered_set<std::uint64_t> sockets = {800, 801, 999};
  for (std::uint64_t i = 700; i < 730; ++i) {
    sockets.insert(i);
  }
  const SearchResult found = search.Search(sockets, {{10, {11}}, {20, {21, 22}}});
  EXPECT_EQ(found.holders.size(), 12U);
  EXPECT_THAT(found.cut, ElementsAre(10));
  EXPECT_THAT(found.whole, ElementsAre(20));
}

TEST(SocketHolders, ASearchWithoutTimeEndsAndTheNextGoesOnWhereItStopped) {
  const Proc proc;
  proc.Link("11/fd/3", "socket:[700]");
  proc.Link("12/fd/3", "socket:[701]");
  proc.Link("13/fd/3", "socket:[702]");
  HolderSearch search(proc.root(), {.descriptors = 10, .time = Duration(0)});
  for (int i = 0; i < 3; ++i) {
    const SearchResult found = search.Search({700, 701, 702}, {{10, {11, 12, 13}}});
    EXPECT_THAT(found.cut, ElementsAre(10));
    EXPECT_THAT(found.whole, IsEmpty());
  }
}

TEST(SocketHolders, WithoutTimeNoTreeIsKnownToBeInOurNamespace) {
  const Proc proc;
  proc.Link("self/ns/net", "net:[1]");
  proc.Link("11/ns/net", "net:[1]");
  EXPECT_THAT(TreesElsewhere({{10, {11}}}, proc.root(), Duration(0)), ElementsAre(10));
}

// As of a user who would hold the agent up: a look at three million descriptors took half a minute.
TEST(SocketHolders, ASearchTakesNotMuchMoreThanItsTime) {
  const Proc proc;
  std::vector<pid_t> pids;
  for (int pid = 100; pid < 150; ++pid) {
    pids.push_back(pid);
    for (int fd = 0; fd < 200; ++fd) {
      proc.Link(absl::StrCat(pid, "/fd/", fd), "/dev/null");
    }
  }
  proc.Link("21/fd/3", "socket:[700]");
  HolderSearch search(proc.root(), {.descriptors = 1024, .time = Duration(2)});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    const SearchResult found = search.Search({700, 999}, {{10, pids}, {20, {21}}});
    EXPECT_THAT(found.holders, ElementsAre(Pair(700, 20))) << "a small tree has its share";
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(SocketHolders, ATreeOfAnotherNetworkNamespaceIsFound) {
  const Proc proc;
  proc.Link("self/ns/net", "net:[1]");
  proc.Link("11/ns/net", "net:[1]");
  proc.Link("21/ns/net", "net:[1]");
  proc.Link("22/ns/net", "net:[2]");
  EXPECT_THAT(TreesElsewhere({{10, {11, 12}}, {20, {21, 22}}, {30, {}}}, proc.root()),
              ElementsAre(20))
      << "12 has ended";
}

TEST(SocketHolders, WhereOurOwnNamespaceCannotBeReadNothingIsKnownToBeInIt) {
  const Proc proc;
  proc.Link("11/ns/net", "net:[1]");
  EXPECT_THAT(TreesElsewhere({{10, {11}}, {20, {}}}, proc.root()), ElementsAre(10));
}

TEST(SocketHolders, OfThisProcessTheSocketsAreSeen) {
  const UniqueFd own(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  struct stat status {};
  ASSERT_EQ(fstat(own.get(), &status), 0);
  EXPECT_THAT(HoldersOf({status.st_ino}, {{1, {getpid()}}}), ElementsAre(Pair(status.st_ino, 1)));
  EXPECT_THAT(TreesElsewhere({{1, {getpid()}}}), IsEmpty());
}

}  // namespace
}  // namespace muster::agent
