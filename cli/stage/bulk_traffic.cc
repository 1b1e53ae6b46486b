#include "cli/stage/bulk_traffic.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <array>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kDscpMax = 63;

template <class Number>
Number NumberIn(const Environment& environment, const std::string& name) {
  Number number = 0;
  return absl::SimpleAtoi(environment.Get(name), &number) ? number : Number{0};
}

std::string TextOf(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* bytes =
      address.sa_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr)
          : &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr ? text.data()
                                                                                  : "";
}

bool IsUsable(const ifaddrs& each, const std::string& nic, int family) {
  return each.ifa_addr != nullptr && each.ifa_name == nic && each.ifa_addr->sa_family == family &&
         (each.ifa_flags & IFF_UP) != 0 &&
         (family == AF_INET ||
          !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(each.ifa_addr)->sin6_addr));
}

}  // namespace

BulkTraffic BulkTrafficOf(const char* traffic_class, const Environment& environment) {
  const std::string name = absl::StrCat("MUSTER_", traffic_class);
  BulkTraffic traffic;
  traffic.nics = absl::StrSplit(environment.Get(name + "_NIC"), ',', absl::SkipEmpty());
  traffic.rate = NumberIn<std::uint64_t>(environment, name + "_RATE");
  traffic.dscp = NumberIn<std::uint32_t>(environment, name + "_DSCP");
  traffic.dscp = traffic.dscp > kDscpMax ? 0 : traffic.dscp;
  return traffic;
}

std::string NetworkName(const std::string& nic) {
  std::error_code none;
  const std::filesystem::path net = "/sys/class/infiniband/" + nic + "/device/net";
  const std::filesystem::directory_iterator first(net, none);
  return none || first == std::filesystem::directory_iterator() ? nic
                                                                : first->path().filename().string();
}

absl::StatusOr<NicAddress> AddressOfNics(const std::vector<std::string>& nics) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return absl::UnavailableError("the addresses of this machine cannot be read");
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(list, &freeifaddrs);
  for (const std::string& nic : nics) {
    for (const int family : {AF_INET, AF_INET6}) {
      for (const ifaddrs* each = all.get(); each != nullptr; each = each->ifa_next) {
        if (IsUsable(*each, NetworkName(nic), family)) {
          return NicAddress{each->ifa_name, TextOf(*each->ifa_addr)};
        }
      }
    }
  }
  return absl::NotFoundError(absl::StrCat(absl::StrJoin(nics, ","), ": has no address"));
}

std::vector<std::string> BulkWords(const char* traffic_class, const Environment& environment) {
  const BulkTraffic traffic = BulkTrafficOf(traffic_class, environment);
  std::vector<std::string> words;
  if (traffic.rate > 0) {
    words.push_back(absl::StrCat("--bwlimit=", traffic.rate, "B"));
  }
  if (const absl::StatusOr<NicAddress> nic = AddressOfNics(traffic.nics); nic.ok()) {
    words.push_back(absl::StrCat("--bind=", nic->address));
  }
  return words;
}

}  // namespace muster::cli
