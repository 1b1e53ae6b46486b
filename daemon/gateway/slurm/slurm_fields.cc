#include "daemon/gateway/slurm/slurm_fields.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::daemon::slurm {

absl::Status BadField(const std::string& name, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("job.", name, ": ", why));
}

absl::Status InField(const std::string& name, const absl::Status& status) {
  return status.ok() ? status : BadField(name, std::string(status.message()));
}

bool SaysNothing(const Json& value) {
  const bool unset = value.is_object() && value.value("set", Json(true)) == false &&
                     value.value("infinite", Json(false)) == false;
  return unset || value.is_null() ||
         (value.is_string() && value.get_ref<const std::string&>().empty()) ||
         (value.is_structured() && value.empty());
}

absl::StatusOr<std::string> TextIn(const std::string& name, const Json& value) {
  if (!value.is_string()) {
    return BadField(name, "a text");
  }
  return value.get<std::string>();
}

absl::StatusOr<std::optional<std::uint64_t>> NumberIn(const std::string& name, const Json& value) {
  std::uint64_t number = 0;
  if (value.is_number_unsigned()) {
    return value.get<std::uint64_t>();
  }
  if (value.is_string() && absl::SimpleAtoi(value.get<std::string>(), &number)) {
    return number;
  }
  if (SaysNothing(value)) {
    return std::nullopt;
  }
  if (value.is_object() && value.contains("number") && value.at("number").is_number_unsigned() &&
      value.value("infinite", Json(false)) == false) {
    return value.at("number").get<std::uint64_t>();
  }
  return BadField(name, "a whole number, as 7 or {\"set\": true, \"number\": 7}");
}

absl::StatusOr<std::uint32_t> CountIn(const std::string& name, const Json& value) {
  ASSIGN_OR_RETURN(const std::optional<std::uint64_t> number, NumberIn(name, value));
  if (number.value_or(0) > UINT32_MAX) {
    return BadField(name, "too large");
  }
  return static_cast<std::uint32_t>(number.value_or(0));
}

absl::StatusOr<bool> SwitchIn(const std::string& name, const Json& value) {
  if (!value.is_boolean()) {
    return BadField(name, "true or false");
  }
  return value.get<bool>();
}

absl::StatusOr<std::vector<std::string>> WordsIn(const std::string& name, const Json& value) {
  std::vector<std::string> words;
  if (value.is_string()) {
    words = absl::StrSplit(value.get<std::string>(), ',', absl::SkipWhitespace());
    return words;
  }
  if (!value.is_array()) {
    return BadField(name, "a list of texts");
  }
  for (const Json& word : value) {
    ASSIGN_OR_RETURN(std::string text, TextIn(name, word));
    words.push_back(std::move(text));
  }
  return words;
}

FieldReader Text(void (*set)(SubmitJob& job, std::string text)) {
  return [set](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    ASSIGN_OR_RETURN(std::string text, TextIn(name, value));
    set(job, std::move(text));
    return absl::OkStatus();
  };
}

FieldReader Whole(void (*set)(SubmitJob& job, std::uint32_t number)) {
  return [set](const std::string& name, const Json& value, SubmitJob& job) {
    const absl::StatusOr<std::uint32_t> number = CountIn(name, value);
    if (number.ok()) {
      set(job, *number);
    }
    return number.status();
  };
}

FieldReader Switch(void (*set)(SubmitJob& job, bool on)) {
  return [set](const std::string& name, const Json& value, SubmitJob& job) {
    const absl::StatusOr<bool> on = SwitchIn(name, value);
    if (on.ok()) {
      set(job, *on);
    }
    return on.status();
  };
}

FieldReader Worded(absl::Status (*read)(SubmitJob& job, const std::string& text)) {
  return [read](const std::string& name, const Json& value, SubmitJob& job) -> absl::Status {
    ASSIGN_OR_RETURN(const std::string text, TextIn(name, value));
    return InField(name, read(job, text));
  };
}

FieldReader Recorded(const std::string& option) {
  return [option](const std::string& /*name*/, const Json& value, SubmitJob& job) {
    const Json& said = value.is_object() && value.contains("number") ? value.at("number") : value;
    if (said != false && said != 0) {
      job.spec.recorded.push_back(
          said == true ? option
                       : absl::StrCat(option, "=",
                                      said.is_string() ? said.get<std::string>() : said.dump()));
    }
    return absl::OkStatus();
  };
}

}  // namespace muster::daemon::slurm
