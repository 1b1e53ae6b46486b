#include "daemon/controller/network_map.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "topology/network/network_file.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kNamed = 8;

// "2 nodes of it are WHAT: n1,n2"; nothing of none.
void AddLine(const std::string& source, const std::vector<std::string>& names, const char* what,
             std::vector<std::string>& lines) {
  if (names.empty()) {
    return;
  }
  std::string some;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i) {
    absl::StrAppend(&some, i == 0 ? "" : ",", EscapeControl(names[i]));
  }
  if (names.size() > kNamed) {
    absl::StrAppend(&some, " and ", names.size() - kNamed, " more");
  }
  lines.push_back(absl::StrCat("network ", source, ": ", names.size(),
                               names.size() == 1 ? " node " : " nodes ", what, ": ", some));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Network>> ReadNetworkMap(const std::string& path) {
  ASSIGN_OR_RETURN(Network network, topology::ReadNetwork(path));
  return std::make_shared<const Network>(std::move(network));
}

NetworkMap::NetworkMap(std::shared_ptr<const Network> network) : network_(std::move(network)) {
  if (network_ != nullptr) {
    for (const NetworkNode& node : network_->nodes) {
      names_.insert(node.name);
    }
  }
}

std::vector<std::string> NetworkMap::Remarks(const std::map<NodeId, Node>& nodes) const {
  std::vector<std::string> lines;
  if (network_ == nullptr) {
    return lines;
  }
  for (const std::string& remark : network_->remarks) {
    lines.push_back(absl::StrCat("network ", network_->source, ": ", EscapeControl(remark)));
  }
  std::unordered_set<std::string> there;
  std::vector<std::string> off_map;
  for (const auto& [id, node] : nodes) {
    there.insert(node.name);
    if (!names_.contains(node.name)) {
      off_map.push_back(node.name);
    }
  }
  std::vector<std::string> missing;
  for (const NetworkNode& node : network_->nodes) {
    if (!there.contains(node.name)) {
      missing.push_back(node.name);
    }
  }
  AddLine(network_->source, missing, "of it not registered (yet)", lines);
  AddLine(network_->source, off_map, "of the cluster not on it, near to no other", lines);
  return lines;
}

std::optional<std::string> NetworkMap::RemarkOn(const std::string& node) const {
  if (network_ == nullptr || names_.contains(node)) {
    return std::nullopt;
  }
  return absl::StrCat("node ", EscapeControl(node), " is not in the network ", network_->source,
                      ": it is used, and near to no other");
}

}  // namespace muster::daemon
