#include "agent/node/network/fabric_ports.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::uint64_t kDataUnit = 4;  // of port_xmit_data and port_rcv_data, in bytes

std::optional<std::uint64_t> CounterIn(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  std::uint64_t count = 0;
  return text.ok() && absl::SimpleAtoi(*text, &count) ? std::optional(count) : std::nullopt;
}

std::optional<std::uint64_t> SumOf(const std::string& directory,
                                   std::initializer_list<const char*> names) {
  std::optional<std::uint64_t> sum;
  for (const char* const name : names) {
    if (const std::optional<std::uint64_t> count = CounterIn(absl::StrCat(directory, "/", name))) {
      sum = sum.value_or(0) + *count;
    }
  }
  return sum;
}

// Of "100 Gb/sec (4X EDR)".
double RateIn(const std::string& path) {
  const std::string text = ReadFile(path).value_or("");
  double gigabits = 0;
  return absl::SimpleAtod(std::vector<std::string>(absl::StrSplit(text, ' ')).front(), &gigabits)
             ? gigabits * 1e9 / 8
             : 0;
}

std::optional<FabricPort> ReadPort(const std::string& port) {
  const std::optional<std::uint64_t> sent = CounterIn(port + "/counters/port_xmit_data");
  const std::optional<std::uint64_t> received = CounterIn(port + "/counters/port_rcv_data");
  if (!sent.has_value() || !received.has_value()) {
    return std::nullopt;
  }
  FabricPort counted;
  counted.sent = Bytes(*sent * kDataUnit);
  counted.received = Bytes(*received * kDataUnit);
  counted.bytes_per_second = RateIn(port + "/rate");
  counted.errors = SumOf(port + "/counters",
                         {"symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
                          "port_rcv_remote_physical_errors", "port_xmit_discards",
                          "local_link_integrity_errors", "excessive_buffer_overrun_errors"});
  // Names of the drivers mlx5, bnxt_re and irdma.
  counted.retries =
      SumOf(port + "/hw_counters", {"local_ack_timeout_err", "packet_seq_err", "out_of_sequence",
                                    "implied_nak_seq_err", "rnr_nak_retry_err", "to_retransmits",
                                    "rnr_naks_rcvd", "seq_err_naks_rcvd", "RetransSegs"});
  return counted;
}

std::vector<std::string> EntriesOf(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  return names;
}

void AddMore(std::optional<std::uint64_t> now, std::optional<std::uint64_t> before,
             std::optional<std::uint64_t>& sum) {
  if (now.has_value()) {
    sum = sum.value_or(0) + GrownBy(*now, before.value_or(0));
  }
}

}  // namespace

std::map<std::string, FabricPort> ReadFabricPorts(const std::string& directory) {
  std::map<std::string, FabricPort> ports;
  for (const std::string& device : EntriesOf(directory)) {
    const std::string below = absl::StrCat(directory, "/", device, "/ports");
    for (const std::string& number : EntriesOf(below)) {
      if (const std::optional<FabricPort> port = ReadPort(absl::StrCat(below, "/", number))) {
        ports.emplace(absl::StrCat(device, "/", number), *port);
      }
    }
  }
  return ports;
}

std::optional<FabricUse> FabricMeter::Look() {
  std::optional<FabricUse> use;
  std::map<std::string, FabricPort> now = ReadFabricPorts(directory_);
  for (const auto& [name, port] : now) {
    const auto before = before_.find(name);
    if (before == before_.end()) {
      continue;
    }
    use = use.value_or(FabricUse());
    const Bytes sent = GrownBy(port.sent, before->second.sent);
    const Bytes received = GrownBy(port.received, before->second.received);
    use->sent += sent;
    use->received += received;
    AddMore(port.errors, before->second.errors, use->errors);
    AddMore(port.retries, before->second.retries, use->retries);
    if (port.bytes_per_second > 0) {
      const std::chrono::duration<double> busy(
          static_cast<double>(std::max(sent, received).value()) / port.bytes_per_second);
      use->busy = std::max(use->busy, std::chrono::duration_cast<Duration>(busy));
    }
  }
  before_ = std::move(now);
  return use;
}

}  // namespace muster::agent
