#pragma once

// A TOML file as typed values, with errors that say where: "muster.toml:12: nodes: expected a whole
// number".
//
// Only the mechanism: which keys exist, their bounds and their defaults belong to each program. A
// reader leaves its output alone when the key is absent, so the defaults are the options'
// initialisers. After reading everything, RefuseUnknownKeys() turns a misspelt key into an error
// and not into a silent default. Thread promise: one thread at a time.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

// Inclusive bounds of a number.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

class ConfigFile {
 public:
  // Reads and parses `path`; a syntax error names its line.
  static absl::StatusOr<ConfigFile> Load(const std::string& path);
  // Parses `text`; `name` stands for the file in errors.
  static absl::StatusOr<ConfigFile> Parse(const std::string& text, const std::string& name);

  ConfigFile(ConfigFile&&) noexcept;
  ConfigFile& operator=(ConfigFile&&) noexcept;
  ~ConfigFile();

  // Keys are dotted paths ("controller.listen"). Each writes `*out` only when the key is there and
  // well formed.
  absl::Status ReadString(const std::string& key, std::string* out);
  absl::Status ReadInteger(const std::string& key, IntegerRange range, int64_t* out);
  absl::Status ReadBool(const std::string& key, bool* out);
  absl::Status ReadStrings(const std::string& key, std::vector<std::string>* out);
  // A string, a number, a truth value or a list of those as text: "8", "true", "a,b".
  absl::Status ReadText(const std::string& key, std::string* out);
  // "250ms", "30s", "1h30m", "7d"; at least zero.
  absl::Status ReadDuration(const std::string& key, std::chrono::milliseconds* out);

  // Bytes: a whole number of them, or "512M", "20G", "1T" (of 1024); at least zero.
  absl::Status ReadSize(const std::string& key, std::uint64_t* out);

  // A number of at least zero, or a string that is one, in units of 10^-decimals: 0.1 is a tenth.
  absl::Status ReadDecimal(const std::string& key, int decimals, std::uint64_t max,
                           std::uint64_t* out);

  bool Has(const std::string& key) const;
  // The names directly under the table `key` ("" is the root), sorted. Empty when there is no such
  // table.
  std::vector<std::string> KeysUnder(const std::string& key) const;

  // Writes a value in place of what the file says, or beside it: a whole number, true or false as
  // such, everything else, and what stands in double quotes, as a string; a string stays one.
  // Errors about the key then name no line. InvalidArgument when `key` is a table or no path.
  absl::Status Set(const std::string& key, const std::string& value);
  // The keys that were asked for, whether they are there or not.
  const std::set<std::string>& known() const { return known_; }

  // The line of the file that holds `key` (a table's is that of its heading); 0 when it is absent.
  std::size_t LineOf(const std::string& key) const;

  // InvalidArgument "FILE:LINE: KEY: PROBLEM", for a check of the caller's own; without a line when
  // `key` is absent.
  absl::Status ErrorAt(const std::string& key, const std::string& problem) const;
  // The first key that no reader asked for, as an error.
  absl::Status RefuseUnknownKeys() const;

 private:
  struct Document;  // The parsed tree, kept out of this header: its library is heavy.
  ConfigFile(std::string name, std::unique_ptr<Document> document);

  std::string name_;
  std::unique_ptr<Document> document_;
  std::set<std::string> known_;
};

}  // namespace muster
