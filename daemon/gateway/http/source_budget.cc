#include "daemon/gateway/http/source_budget.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace muster::daemon::http {

std::string SourceBudget::SourceOf(const std::string& address) {
  in6_addr six = {};
  if (inet_pton(AF_INET6, address.c_str(), &six) != 1) {
    return address;
  }
  std::array<char, INET6_ADDRSTRLEN> text = {};
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    inet_ntop(AF_INET, &six.s6_addr[12], text.data(), text.size());
    return text.data();
  }
  std::fill(std::begin(six.s6_addr) + 8, std::end(six.s6_addr), 0);
  inet_ntop(AF_INET6, &six, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

bool SourceBudget::Enter(const std::string& source) {
  Prune();
  Source& found = sources_[source];
  if (connections_ >= limits_.connections || found.connections >= limits_.connections_of_a_source) {
    return false;
  }
  ++connections_;
  ++found.connections;
  return true;
}

void SourceBudget::Leave(const std::string& source) {
  --connections_;
  --sources_[source].connections;
}

bool SourceBudget::TakeRequest(const std::string& source) {
  if (limits_.requests_per_second == 0) {
    return true;
  }
  TokenBucket& requests = sources_[source].requests;
  requests.Refill(limits_.requests_per_second, clock_.SteadyNow());
  if (requests.spent() + 1 > limits_.requests_burst) {
    return false;
  }
  requests.Spend(1);
  return true;
}

bool SourceBudget::TakeBytes(const std::string& source, std::uint64_t bytes) {
  Source& found = sources_[source];
  if (large_bytes_ + bytes > limits_.large_bytes ||
      found.large_bytes + bytes > limits_.large_bytes_of_a_source) {
    return false;
  }
  large_bytes_ += bytes;
  found.large_bytes += bytes;
  return true;
}

void SourceBudget::GiveBytes(const std::string& source, std::uint64_t bytes) {
  large_bytes_ -= bytes;
  sources_[source].large_bytes -= bytes;
}

void SourceBudget::Prune() {
  if (sources_.size() < prune_at_) {
    return;
  }
  std::erase_if(sources_, [this, now = clock_.SteadyNow()](const auto& entry) {
    Source source = entry.second;
    source.requests.Refill(limits_.requests_per_second, now);
    return source.connections == 0 && source.requests.spent() == 0;
  });
  prune_at_ = std::max<std::size_t>(1024, 2 * sources_.size());
}

}  // namespace muster::daemon::http
