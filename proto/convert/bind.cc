#include "proto/convert/bind.h"

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace muster::convert {

void Mismatch(const Descriptor& message, const char* field) {
  std::fprintf(stderr, "broken invariant: message %s has no field %s of the model\n",
               message.full_name().c_str(), field);
  std::abort();
}

absl::Status BadEnum(const FieldDescriptor& field, int value) {
  return absl::InvalidArgumentError(absl::StrCat(field.full_name(), ": unknown value ", value,
                                                 "; the sender is newer than this program"));
}

absl::Status Missing(const OneofDescriptor& oneof) {
  return absl::InvalidArgumentError(
      absl::StrCat(oneof.full_name(), ": empty or unknown; the sender is newer than this program"));
}

const FieldDescriptor* FindField(const Descriptor& message, const char* name) {
  const FieldDescriptor* field = message.FindFieldByName(name);
  if (field == nullptr) {
    Mismatch(message, name);
  }
  return field;
}

const OneofDescriptor* FindOneof(const Descriptor& message, const char* name) {
  const OneofDescriptor* oneof = message.FindOneofByName(name);
  if (oneof == nullptr) {
    Mismatch(message, name);
  }
  return oneof;
}

}  // namespace muster::convert
