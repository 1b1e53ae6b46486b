#include "agent/supervisor/sessions/session_packet.h"

#include <charconv>
#include <system_error>

namespace muster::agent {
namespace {

constexpr std::string_view kMay = "may ";
constexpr std::string_view kEnter = "enter ";
constexpr std::string_view kYes = "yes";
constexpr std::string_view kNo = "no";
constexpr std::size_t kFixedFields = 4;  // yes or no, refusal, job, start

template <class Number>
std::optional<Number> NumberIn(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// Fields that each end in a zero byte; nothing when the last does not.
std::optional<std::vector<std::string>> FieldsOf(std::string_view packet) {
  std::vector<std::string> fields;
  while (!packet.empty()) {
    const std::size_t end = packet.find('\0');
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    fields.emplace_back(packet.substr(0, end));
    packet.remove_prefix(end + 1);
  }
  return fields;
}

void AddField(std::string_view field, std::string* packet) {
  packet->append(field);
  packet->push_back('\0');
}

}  // namespace

std::string SessionSocketName(std::uint32_t uid) {
  return "sessions." + std::to_string(uid);
}

std::string ToPacket(const SessionQuestion& question) {
  return std::string(question.enters ? kEnter : kMay) + std::to_string(question.uid);
}

std::optional<SessionQuestion> ParseSessionQuestion(std::string_view packet) {
  SessionQuestion question;
  question.enters = packet.starts_with(kEnter);
  if (!question.enters && !packet.starts_with(kMay)) {
    return std::nullopt;
  }
  packet.remove_prefix(question.enters ? kEnter.size() : kMay.size());
  const std::optional<std::uint32_t> uid = NumberIn<std::uint32_t>(packet);
  question.uid = uid.value_or(0);
  return uid.has_value() ? std::optional(question) : std::nullopt;
}

std::string ToPacket(const SessionAnswer& answer) {
  std::string packet;
  AddField(answer.refusal.empty() ? kYes : kNo, &packet);
  AddField(std::string_view(answer.refusal).substr(0, kSessionPacketBytes / 4), &packet);
  AddField(std::string_view(answer.job).substr(0, kSessionPacketBytes / 4), &packet);
  AddField(std::to_string(answer.started_ms), &packet);
  const std::size_t fixed = packet.size();
  for (const std::string& variable : answer.environment) {
    AddField(variable, &packet);
  }
  if (packet.size() > kSessionPacketBytes) {
    packet.resize(fixed);
  }
  return packet;
}

std::optional<SessionAnswer> ParseSessionAnswer(std::string_view packet) {
  const std::optional<std::vector<std::string>> fields = FieldsOf(packet);
  if (packet.size() > kSessionPacketBytes || !fields.has_value() || fields->size() < kFixedFields) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> started = NumberIn<std::int64_t>((*fields)[3]);
  const bool welcome = (*fields)[0] == kYes;
  if (!started.has_value() || (!welcome && (*fields)[0] != kNo) ||
      welcome != (*fields)[1].empty()) {
    return std::nullopt;
  }
  return SessionAnswer{
      (*fields)[1], (*fields)[2], *started, {fields->begin() + kFixedFields, fields->end()}};
}

}  // namespace muster::agent
