#include "scheduler/simulator/readers/json_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/number_text.h"

namespace muster::sim {
namespace {

bool IsJsonBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool EndsBareValue(char c) {
  return c == ',' || c == ']' || c == '}' || c == '\0' || IsJsonBlank(c);
}

}  // namespace

JsonStream::JsonStream(std::string path, std::unique_ptr<ByteSource> source)
    : path_(std::move(path)), source_(std::move(source)), buffer_(kLineBytesMax) {}

absl::Status JsonStream::Error(const std::string& what) const {
  return absl::DataLossError(absl::StrCat(path_, ":", line_, ": ", what));
}

absl::StatusOr<char> JsonStream::Peek() {
  if (begin_ == end_) {
    begin_ = 0;
    ASSIGN_OR_RETURN(end_, source_->Read(buffer_.data(), buffer_.size()));
    if (end_ == 0) {
      return '\0';
    }
  }
  return buffer_[begin_];
}

absl::StatusOr<char> JsonStream::PeekSolid() {
  for (;;) {
    ASSIGN_OR_RETURN(const char next, Peek());
    if (!IsJsonBlank(next)) {
      return next;
    }
    Take(nullptr);
  }
}

void JsonStream::Take(JsonValue* value) {
  const char taken = buffer_[begin_++];
  line_ += taken == '\n' ? 1 : 0;
  if (value == nullptr) {
    return;
  }
  if (value->text.size() < kLineBytesMax) {
    value->text.push_back(taken);
  } else {
    value->too_long = true;
  }
}

absl::Status JsonStream::Enter(char bracket) {
  ASSIGN_OR_RETURN(const char next, PeekSolid());
  if (next != bracket) {
    return Error(absl::StrCat("expected ", std::string(1, bracket), ", not ",
                              next == '\0' ? "the end of the file" : Shown({&next, 1})));
  }
  Take(nullptr);
  first_ = true;
  return absl::OkStatus();
}

absl::StatusOr<bool> JsonStream::HasNext(char closing) {
  ASSIGN_OR_RETURN(char next, PeekSolid());
  if (next == closing) {
    Take(nullptr);
    first_ = false;
    return false;
  }
  if (!std::exchange(first_, false)) {
    if (next != ',') {
      return Error(next == '\0' ? "the file ends in the middle: fetch it again"
                                : absl::StrCat("expected , or ", std::string(1, closing), ", not ",
                                               Shown({&next, 1})));
    }
    Take(nullptr);
    ASSIGN_OR_RETURN(next, PeekSolid());
  }
  if (next == '\0') {
    return Error("the file ends in the middle: fetch it again");
  }
  return true;
}

absl::StatusOr<std::string> JsonStream::Key() {
  ASSIGN_OR_RETURN(JsonValue key, Value());
  ASSIGN_OR_RETURN(const char next, PeekSolid());
  if (key.text.size() < 2 || key.text.front() != '"' || next != ':') {
    return Error(absl::StrCat("expected \"key\": value, not ", Shown(key.text)));
  }
  Take(nullptr);
  return key.text.substr(1, key.text.size() - 2);
}

absl::Status JsonStream::TakeString(JsonValue* value) {
  bool is_escaped = false;
  Take(value);
  for (;;) {
    ASSIGN_OR_RETURN(const char next, Peek());
    if (next == '\0' && begin_ == end_) {
      return Error("the file ends in the middle: fetch it again");
    }
    Take(value);
    if (next == '"' && !is_escaped) {
      return absl::OkStatus();
    }
    is_escaped = next == '\\' && !is_escaped;
  }
}

// An object or array, to the bracket that closes it.
absl::Status JsonStream::TakeBracketed(JsonValue* value) {
  std::uint64_t depth = 0;
  do {
    ASSIGN_OR_RETURN(const char next, Peek());
    if (next == '\0' && begin_ == end_) {
      return Error("the file ends in the middle: fetch it again");
    }
    if (next == '"') {
      RETURN_IF_ERROR(TakeString(value));
      continue;
    }
    depth += next == '{' || next == '[' ? 1 : 0;
    depth -= next == '}' || next == ']' ? 1 : 0;
    Take(value);
  } while (depth > 0);
  return absl::OkStatus();
}

absl::StatusOr<JsonValue> JsonStream::Value() {
  JsonValue value;
  ASSIGN_OR_RETURN(char next, PeekSolid());
  value.line = line_;
  if (next == '"') {
    RETURN_IF_ERROR(TakeString(&value));
    return value;
  }
  if (next == '{' || next == '[') {
    RETURN_IF_ERROR(TakeBracketed(&value));
    return value;
  }
  while (!EndsBareValue(next)) {
    Take(&value);
    ASSIGN_OR_RETURN(next, Peek());
  }
  return value;
}

}  // namespace muster::sim
