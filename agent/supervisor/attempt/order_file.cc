#include "agent/supervisor/attempt/order_file.h"

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "proto/convert/codec.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {

std::string EncodeOrder(const SupervisorOrder& order) {
  std::string bytes;
  convert::WriteMessage<wire::SupervisorOrder>(order, &bytes);
  return bytes;
}

absl::StatusOr<SupervisorOrder> DecodeOrder(std::string_view bytes) {
  SupervisorOrder order;
  if (const absl::Status read = convert::ReadMessage<wire::SupervisorOrder>(bytes, &order);
      !read.ok()) {
    return absl::DataLossError(
        absl::StrCat("not a supervisor's order: ", std::string(read.message())));
  }
  return order;
}

absl::Status WriteOrder(const std::string& path, const SupervisorOrder& order) {
  return ReplaceFile(path, EncodeOrder(order));
}

absl::StatusOr<SupervisorOrder> ReadOrder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<SupervisorOrder> order = DecodeOrder(bytes);
  return order.ok() ? std::move(order)
                    : absl::Status(order.status().code(),
                                   absl::StrCat(path, ": ", std::string(order.status().message())));
}

}  // namespace muster::agent
