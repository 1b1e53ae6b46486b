#include "agent/supervisor/attempt/container_order.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "proto/convert/codec.h"
#include "scheduler/base/status.h"

namespace muster::agent {

std::string FindContainerProgram(const std::string& ours) {
  const std::string folder = ours.substr(0, ours.rfind('/'));
  for (const char* place : {"/", "/../libexec/muster/"}) {
    std::string path = absl::StrCat(folder, place, "muster-container");
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

std::string EncodeContainerOrder(const ContainerOrder& order) {
  std::string bytes;
  convert::WriteMessage<wire::ContainerOrder>(order, &bytes);
  return bytes;
}

absl::StatusOr<ContainerOrder> DecodeContainerOrder(std::string_view bytes) {
  ContainerOrder order;
  RETURN_IF_ERROR(convert::ReadMessage<wire::ContainerOrder>(bytes, &order));
  return order;
}

std::string EncodeImageWanted(const ImageWanted& wanted) {
  std::string bytes;
  convert::WriteMessage<wire::ImageWanted>(wanted, &bytes);
  return bytes;
}

std::string EncodeContainerMade(const ContainerMade& made) {
  std::string bytes;
  convert::WriteMessage<wire::ContainerMade>(made, &bytes);
  return bytes;
}

absl::StatusOr<ContainerMade> DecodeContainerMade(std::string_view bytes) {
  ContainerMade made;
  RETURN_IF_ERROR(convert::ReadMessage<wire::ContainerMade>(bytes, &made));
  return made;
}

std::string EncodeDataOrder(const DataOrder& order) {
  std::string bytes;
  convert::WriteMessage<wire::DataOrder>(order, &bytes);
  return bytes;
}

absl::StatusOr<DataOrder> DecodeDataOrder(std::string_view bytes) {
  DataOrder order;
  RETURN_IF_ERROR(convert::ReadMessage<wire::DataOrder>(bytes, &order));
  return order;
}

std::string EncodeDataAnswer(const DataAnswer& answer) {
  std::string bytes;
  convert::WriteMessage<wire::DataAnswer>(answer, &bytes);
  return bytes;
}

absl::StatusOr<DataAnswer> DecodeDataAnswer(std::string_view bytes) {
  DataAnswer answer;
  RETURN_IF_ERROR(convert::ReadMessage<wire::DataAnswer>(bytes, &answer));
  return answer;
}

}  // namespace muster::agent
