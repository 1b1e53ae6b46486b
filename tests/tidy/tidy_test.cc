// The rules of this tree, run over all of it. What is not checked here is not a rule.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/tidy/floors.h"
#include "tests/tidy/functions.h"
#include "tests/tidy/includes/named.h"
#include "tests/tidy/pages.h"
#include "tests/tidy/prose/promises.h"
#include "tests/tidy/prose/words.h"
#include "tests/tidy/purity.h"
#include "tests/tidy/reach.h"
#include "tests/tidy/rooms.h"
#include "tests/tidy/source.h"
#include "tests/tidy/tree.h"

namespace muster::tidy {
namespace {

const std::vector<Source>& Tree() {
  static const std::vector<Source> tree = LoadTree(MUSTER_SOURCE_DIR);
  return tree;
}

void Report(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    ADD_FAILURE() << ToString(finding);
  }
}

void ExpectClean(std::vector<Finding> (*check)(const Source&)) {
  for (const Source& source : Tree()) {
    Report(check(source));
  }
}

TEST(House, TheTreeWasFound) {
  // An empty tree would pass every other test.
  const auto is_me = [](const Source& source) { return source.path == "tests/tidy/tidy_test.cc"; };
  EXPECT_EQ(std::count_if(Tree().begin(), Tree().end(), is_me), 1) << "in " << MUSTER_SOURCE_DIR;
}

TEST(House, IncludesOnlyGoDown) {
  ExpectClean(CheckIncludes);
}

TEST(House, RoomsIncludeOnlyWhatTheirTableAllows) {
  Report(CheckRooms(Tree(), RoomTable()));
}

TEST(House, PagesSayWhatTheirRoomsMayInclude) {
  Report(CheckRoomPagesSay(Tree(), RoomTable()));
}

TEST(House, RoomsFormNoCircle) {
  Report(CheckRoomCircles(Tree()));
}

TEST(House, UnitsFormNoCircle) {
  // The C interface is one header for C programs, which are given no other.
  Report(CheckUnitCircles(Tree(), {"checkpoint/c_group checkpoint/muster_checkpoint"}));
}

TEST(House, EveryHeaderIsReachedByAProgram) {
  Report(CheckDeadHeaders(Tree(), {"agent/kernels/place/openmp_environment.h",  // CMake links it
                                   "checkpoint/checkpoint.h",                   // of users
                                   "scheduler/simulator/crash/simulator.h"}));  // muster-dst
}

TEST(House, EveryHeaderIsIncludedByATest) {
  const auto list = std::find_if(Tree().begin(), Tree().end(), [](const Source& source) {
    return source.path == "tests/tidy/untested_headers.txt";
  });
  ASSERT_NE(list, Tree().end());
  Report(CheckUntestedHeaders(Tree(), *list));
}

TEST(House, PureFloorsAskTheMachineNothing) {
  for (const Source& source : Tree()) {
    if (IsPure(source)) {
      Report(CheckPurity(source));
    }
  }
}

TEST(House, PureFloorsIterateNoUnorderedContainer) {
  std::map<std::string, std::set<std::string>> names_of;
  for (const Source& source : Tree()) {
    if (IsPure(source)) {
      names_of[source.path] = UnorderedNames(source);
    }
  }
  for (const Source& source : Tree()) {
    if (!IsPure(source)) {
      continue;
    }
    std::set<std::string> names = names_of[source.path];
    for (const Include& include : IncludesOf(source)) {
      const auto found = names_of.find(include.target);
      if (found != names_of.end()) {
        names.insert(found->second.begin(), found->second.end());
      }
    }
    Report(CheckUnorderedIteration(source, names));
  }
}

TEST(House, EveryFunctionFitsOnAScreen) {
  ExpectClean(CheckFunctionLengths);
}

TEST(House, EveryClassFitsInOneHead) {
  const auto list = std::find_if(Tree().begin(), Tree().end(), [](const Source& source) {
    return source.path == "tests/tidy/larger_classes.txt";
  });
  ASSERT_NE(list, Tree().end());
  Report(CheckClassSizes(Tree(), *list));
}

TEST(House, EveryFileFitsInOneHead) {
  ExpectClean(CheckFileLength);
}

TEST(House, EveryHeaderIntroducesItself) {
  ExpectClean(CheckHeaderOpening);
}

TEST(House, AThreadPromiseSaysSomething) {
  ExpectClean(CheckThreadPromises);
}

TEST(House, NothingIsLeftHalfDone) {
  ExpectClean(CheckLeftovers);
}

TEST(House, NoPathOfOneMachineIsNamed) {
  ExpectClean(CheckWorkspacePaths);
}

TEST(House, EveryNameSaysSomething) {
  ExpectClean(CheckNames);
}

TEST(House, EverySourceIsBuiltAndEveryListedOneExists) {
  Report(CheckBuildLists(Tree()));
}

TEST(House, EveryWingHasItsNamespace) {
  ExpectClean(CheckNamespaces);
}

TEST(House, EveryQualifiedTypeNameIsDefinedOnce) {
  Report(CheckTypeNames(Tree()));
}

TEST(House, EverySourceIncludesWhatItNames) {
  Report(CheckStandardNames(Tree()));
  Report(CheckTypesAreReached(Tree()));
}

TEST(House, EveryFolderFitsInOneHead) {
  Report(CheckFolderSizes(Tree()));
}

TEST(House, NoLineOfAPageIsWiderThanAScreen) {
  ExpectClean(CheckPageWidth);
}

TEST(House, EveryPathInCommentsAndPagesExists) {
  Report(CheckNamedPaths(Tree(), {}));
}

TEST(House, TextIsInPlainWords) {
  ExpectClean(CheckWords);
}

TEST(House, EveryRoomIsNamedByAPageAboveIt) {
  Report(CheckRoomsAreNamed(Tree()));
}

TEST(House, EveryFolderHasItsPage) {
  Report(CheckReadmes(Tree()));
}

TEST(House, EveryRoomHasAPageThatNamesItsUnits) {
  Report(CheckRoomPages(Tree(), {}));
}

}  // namespace
}  // namespace muster::tidy
