#include "cli/up/web_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(WebPlaceTest, TheFileOfALinkDoesNotSayItsCode) {
  const WebPlace place("/state");
  EXPECT_THAT(place.LinkOf("secret-code"), StartsWith("/state/gateway/links/"));
  EXPECT_THAT(place.LinkOf("secret-code"), Not(HasSubstr("secret")));
  EXPECT_NE(place.LinkOf("a"), place.LinkOf("b"));
}

TEST(WebPlaceTest, ListensOnThisMachineAndNobodyTakesThePort) {
  const UniqueFd socket = ListenForWeb("127.0.0.1:0").value();
  const std::string url = WebUrl(socket);
  EXPECT_THAT(url, StartsWith("http://127.0.0.1:"));
  const std::string address = url.substr(7, url.size() - 8);
  EXPECT_FALSE(ListenForWeb(address).ok());
}

TEST(WebPlaceTest, ListensForNobodyElse) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "127.0.0.1", "", ":80",
                              "example.org:80", "127.0.0.1:x", "127.0.0.1:99999"}) {
    EXPECT_FALSE(ListenForWeb(address).ok()) << address;
  }
}

}  // namespace
}  // namespace muster::cli
