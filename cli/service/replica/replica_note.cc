#include "cli/service/replica/replica_note.h"

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr const char* kBegin = "replica";
constexpr const char* kPortKey = "port:";

bool IsState(const std::string& word) {
  return word == kReplicaStarting || word == kReplicaReady || word == kReplicaFailing ||
         word == kReplicaLeaving;
}

// One "KEY=VALUE" of the note. False: it is none.
bool Take(const std::string& word, ReplicaNote* note) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) {
    return false;
  }
  const std::string key = word.substr(0, equals);
  const std::string value = word.substr(equals + 1);
  if (key == "host") {
    note->host = value;
    return true;
  }
  const bool is_port = absl::StartsWith(key, kPortKey);
  const absl::StatusOr<std::uint64_t> number =
      ParseDigits(value, is_port ? UINT16_MAX : UINT64_MAX);
  if (!number.ok()) {
    return false;
  }
  if (is_port) {
    note->ports.push_back(
        {key.substr(std::string(kPortKey).size()), static_cast<std::uint16_t>(*number)});
  } else if (key == "restarts") {
    note->restarts = *number;
  } else if (key == "starts") {
    note->starts = *number;
  }
  return true;  // a further key is a later version's
}

}  // namespace

std::string NoteText(const ReplicaNote& note) {
  std::string text = absl::StrCat(kBegin, " ", note.state, " restarts=", note.restarts,
                                  " starts=", note.starts, " host=", note.host);
  for (const ServicePort& port : note.ports) {
    absl::StrAppend(&text, " ", kPortKey, port.name, "=", port.port);
  }
  return text;
}

std::optional<ReplicaNote> ReadNote(const std::string& text) {
  const std::vector<std::string> words = SplitWords(text);
  if (words.size() < 2 || words[0] != kBegin || !IsState(words[1])) {
    return std::nullopt;
  }
  ReplicaNote note;
  note.state = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (!Take(words[i], &note)) {
      return std::nullopt;
    }
  }
  return note;
}

}  // namespace muster::cli
