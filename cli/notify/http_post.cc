#include "cli/notify/http_post.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/mac.h"

namespace muster::cli {
namespace {

using Handle = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

bool IsPrivateFour(std::uint32_t address) {
  struct Net {
    std::uint32_t base;
    int bits;
  };
  // RFC 6890: this host, private, shared, loopback, link-local, benchmarks, multicast and above.
  constexpr std::array<Net, 9> kNets = {{{0x00000000, 8},
                                         {0x0a000000, 8},
                                         {0x64400000, 10},
                                         {0x7f000000, 8},
                                         {0xa9fe0000, 16},
                                         {0xac100000, 12},
                                         {0xc0a80000, 16},
                                         {0xc6120000, 15},
                                         {0xe0000000, 3}}};
  for (const Net& net : kNets) {
    if ((address >> (32 - net.bits)) == (net.base >> (32 - net.bits))) {
      return true;
    }
  }
  return false;
}

bool IsPrivateSix(const in6_addr& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address) || IN6_IS_ADDR_V4COMPAT(&address)) {
    std::uint32_t four = 0;
    std::memcpy(&four, address.s6_addr + 12, sizeof(four));
    return IN6_IS_ADDR_LOOPBACK(&address) || IsPrivateFour(ntohl(four));
  }
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) ||
         IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_MULTICAST(&address) ||
         (address.s6_addr[0] & 0xfe) == 0xfc;
}

bool IsPrivateSocket(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return IsPrivateFour(ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr));
  }
  return address.sa_family != AF_INET6 ||
         IsPrivateSix(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

// What the name resolved to is judged, not the name.
curl_socket_t OpenPublic(void* refused, curlsocktype /*purpose*/, curl_sockaddr* address) {
  if (IsPrivateSocket(address->addr)) {
    *static_cast<bool*>(refused) = true;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

std::size_t Discard(char* /*data*/, std::size_t size, std::size_t count, void* /*nothing*/) {
  return size * count;
}

absl::Status StatusOf(long code) {
  if (code >= 200 && code < 300) {
    return absl::OkStatus();
  }
  const std::string text = absl::StrCat("HTTP status ", code);
  const bool later = code < 400 || code >= 500 || code == 408 || code == 425 || code == 429;
  return later ? absl::UnavailableError(text) : absl::InvalidArgumentError(text);
}

}  // namespace

void StartHttp() {
  curl_global_init(CURL_GLOBAL_DEFAULT);
}

absl::Status Post(const HttpPost& post, std::chrono::seconds time) {
  const Handle handle(curl_easy_init(), curl_easy_cleanup);
  if (handle == nullptr) {
    return absl::ResourceExhaustedError("no memory for a request, or no libcurl on this machine");
  }
  Headers headers(nullptr, curl_slist_free_all);
  const auto add = [&headers](const std::string& line) {
    headers.reset(curl_slist_append(headers.release(), line.c_str()));
  };
  add("Content-Type: " + post.type);
  add("Expect:");
  for (const auto& [name, value] : post.headers) {
    add(absl::StrCat(name, ": ", value));
  }
  bool refused = false;
  CURL* const curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, post.url.c_str());
  if (curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK) {
    return absl::FailedPreconditionError("this machine's libcurl is older than 7.85");
  }
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(time.count()));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "muster-notifier");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, post.body.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Discard);
  if (!post.to_private) {
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, OpenPublic);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, &refused);
  }
  const CURLcode code = curl_easy_perform(curl);
  if (refused) {
    return absl::InvalidArgumentError("an address of a private network; see webhook_private");
  }
  if (code != CURLE_OK) {
    return absl::UnavailableError(curl_easy_strerror(code));
  }
  long answer = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
  return StatusOf(answer);
}

std::vector<std::pair<std::string, std::string>> WebhookHeaders(const std::string& id, Time now,
                                                                const std::string& body,
                                                                const std::string& key) {
  const std::string stamp = absl::StrCat(
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  const std::string code = MacOf(key, {id, ".", stamp, ".", body});
  return {{"webhook-id", id},
          {"webhook-timestamp", stamp},
          {"webhook-signature", "v1," + absl::Base64Escape(code)}};
}

std::string WebhookKeyOf(const std::string& site_key, const std::string& user) {
  return MacOf(site_key, {"muster webhook of ", user});
}

std::string WebhookSecretText(const std::string& key) {
  return "whsec_" + absl::Base64Escape(key);
}

bool IsPrivateAddress(const std::string& address) {
  in_addr four = {};
  in6_addr six = {};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) {
    return IsPrivateFour(ntohl(four.s_addr));
  }
  return inet_pton(AF_INET6, address.c_str(), &six) != 1 || IsPrivateSix(six);
}

}  // namespace muster::cli
