#pragma once

// A JSON document value by value, in bounded memory: what a parser of whole documents cannot do
// with a workload of a million jobs.
//
// Cuts the text into the values of an object or array, which may be large, by brackets and quotes
// alone; what a value means, and whether it is JSON at all, is for a parser to say. Thread promise:
// a value; one thread at a time. Invariants: no more than kLineBytesMax bytes of a value are kept;
// a document that ends in the middle is DataLoss with its line.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/simulator/readers/byte_source.h"
#include "scheduler/simulator/readers/line_reader.h"

namespace muster::sim {

struct JsonValue {
  std::uint64_t line = 0;  // where it begins
  std::string text;        // its first kLineBytesMax bytes
  bool too_long = false;
};

class JsonStream {
 public:
  JsonStream(std::string path, std::unique_ptr<ByteSource> source);

  // Goes into the array or object that comes next. An error when there is none.
  absl::Status Enter(char bracket);
  // True with something else than its end next in the array or object; false after its end.
  absl::StatusOr<bool> HasNext(char closing);
  // The key of an object's next member, and what follows its ':' next.
  absl::StatusOr<std::string> Key();
  // The whole next value.
  absl::StatusOr<JsonValue> Value();

  [[nodiscard]] const ByteSource& source() const { return *source_; }
  [[nodiscard]] absl::Status Error(const std::string& what) const;

 private:
  // The next byte that is no blank, not taken; '\0' at the end of the file.
  absl::StatusOr<char> PeekSolid();
  absl::StatusOr<char> Peek();
  void Take(JsonValue* value);
  absl::Status TakeString(JsonValue* value);
  absl::Status TakeBracketed(JsonValue* value);

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t line_ = 1;
  bool first_ = true;  // of the array or object: no ',' in front
};

}  // namespace muster::sim
