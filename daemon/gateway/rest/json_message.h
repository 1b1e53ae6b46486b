#pragma once

// Messages of the client service as JSON, in protobuf's own mapping, and their fields out of a
// query.
//
// Invariants: a field that the message does not have is an error; what is written has every field,
// set or not, so that a reader need not guess.

#include <google/protobuf/message.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::daemon {

// The members of a JSON object into the message; InvalidArgument says which does not fit.
absl::Status ReadJson(const std::string& json, google::protobuf::Message* message);
std::string WriteJson(const google::protobuf::Message& message);
// The same, but of the members of lists the named ones alone: for readers of very many. A name that
// no list's members have is InvalidArgument.
absl::StatusOr<std::string> WriteJson(const google::protobuf::Message& message,
                                      const std::vector<std::string>& fields);

// One field, by its name or its name in JSON, from a text: a string, number, truth value or name of
// an enumeration. Of a repeated field one more, or several with commas between. `path` may lead
// through messages: "job.job".
absl::Status SetField(const std::string& path, const std::string& text,
                      google::protobuf::Message* message);

}  // namespace muster::daemon
