#include "cli/slurm/frame/words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

std::string_view NameOf(const Row& row) {
  return *row.name == '\0' ? std::string_view(&row.letter, 1) : std::string_view(row.name);
}

class WordReader {
 public:
  WordReader(std::span<const Row> rows, const std::vector<std::string>& arguments)
      : rows_(rows), arguments_(arguments) {}

  absl::StatusOr<Words> Read(Operands operands) {
    while (next_ < arguments_.size()) {
      const std::string& word = arguments_[next_++];
      if (word == "--") {
        TakeRest();
      } else if (word.size() > 2 && word.rfind("--", 0) == 0) {
        RETURN_IF_ERROR(TakeLong(word));
      } else if (word.size() > 1 && word[0] == '-') {
        RETURN_IF_ERROR(TakeLetters(word));
      } else {
        words_.operands.push_back(word);
        if (operands == Operands::kLast) {
          TakeRest();
        }
      }
    }
    return std::move(words_);
  }

 private:
  void TakeRest() {
    words_.operands.insert(words_.operands.end(),
                           arguments_.begin() + static_cast<std::ptrdiff_t>(next_),
                           arguments_.end());
    next_ = arguments_.size();
  }

  // The first row of the option that `row` is a name of.
  const Row& Chief(const Row& row) const {
    const auto chief = std::find_if(rows_.begin(), rows_.end(), [&row](const Row& each) {
      return &each == &row || (row.letter != '\0' && each.letter == row.letter);
    });
    return *chief;
  }

  absl::StatusOr<const Row*> FindLong(std::string_view name) const {
    std::vector<const Row*> found;
    for (const Row& row : rows_) {
      const std::string_view own = row.name;
      if (own == name && !own.empty()) {
        return &Chief(row);
      }
      if (own.substr(0, name.size()) == name && !own.empty()) {
        found.push_back(&row);
      }
    }
    if (found.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("unrecognized option '--", std::string(name), "'"));
    }
    const Row* const chief = &Chief(*found.front());
    if (std::any_of(found.begin(), found.end(),
                    [&](const Row* row) { return &Chief(*row) != chief; })) {
      std::string text =
          absl::StrCat("option '--", std::string(name), "' is ambiguous; possibilities:");
      for (const Row* row : found) {
        absl::StrAppend(&text, " '--", row->name, "'");
      }
      return absl::InvalidArgumentError(text);
    }
    return chief;
  }

  absl::Status TakeLong(const std::string& word) {
    const std::size_t equals = word.find('=');
    const bool glued = equals != std::string::npos;
    ASSIGN_OR_RETURN(const Row* row,
                     FindLong(std::string_view(word).substr(2, glued ? equals - 2 : equals)));
    if (row->takes == Takes::kNothing && glued) {
      return absl::InvalidArgumentError(
          absl::StrCat("option '--", row->name, "' doesn't allow an argument"));
    }
    if (row->takes == Takes::kValue && !glued && next_ == arguments_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("option '--", row->name, "' requires an argument"));
    }
    GivenWord given{std::string(NameOf(*row)), glued ? word.substr(equals + 1) : "", glued};
    if (row->takes == Takes::kValue && !glued) {
      given.value = arguments_[next_++];
      given.has_value = true;
    }
    words_.options.push_back(std::move(given));
    return absl::OkStatus();
  }

  absl::Status TakeLetters(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const auto row = std::find_if(rows_.begin(), rows_.end(),
                                    [&](const Row& each) { return each.letter == word[i]; });
      if (row == rows_.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("invalid option -- '", word.substr(i, 1), "'"));
      }
      GivenWord given{std::string(NameOf(*row)), "", false};
      if (row->takes != Takes::kNothing && i + 1 < word.size()) {
        given.value = word.substr(i + 1);
        given.has_value = true;
        i = word.size();
      } else if (row->takes == Takes::kValue) {
        if (next_ == arguments_.size()) {
          return absl::InvalidArgumentError(
              absl::StrCat("option requires an argument -- '", word.substr(i, 1), "'"));
        }
        given.value = arguments_[next_++];
        given.has_value = true;
      }
      words_.options.push_back(std::move(given));
    }
    return absl::OkStatus();
  }

  const std::span<const Row> rows_;
  const std::vector<std::string>& arguments_;
  std::size_t next_ = 0;
  Words words_;
};

bool HasLetter(std::span<const Row> rows, char letter) {
  return std::any_of(rows.begin(), rows.end(),
                     [letter](const Row& row) { return row.letter == letter; });
}

bool HasName(std::span<const Row> rows, std::string_view name) {
  return std::any_of(rows.begin(), rows.end(), [name](const Row& row) { return name == row.name; });
}

std::string HelpText(const std::string& name, std::span<const Row> rows) {
  std::string text = absl::StrCat("Usage: ", name, " [OPTIONS...]\n");
  for (const Row& row : rows) {
    const char* const value = row.takes == Takes::kNothing ? ""
                              : row.takes == Takes::kValue ? "=VALUE"
                                                           : "[=VALUE]";
    const std::string letter = row.letter == '\0' ? "    "
                                                  : absl::StrCat("-", std::string(1, row.letter),
                                                                 *row.name == '\0' ? "" : ", ");
    absl::StrAppend(&text, "  ", letter, *row.name == '\0' ? "" : "--", row.name, value, "\n");
  }
  return text;
}

}  // namespace

bool Words::Has(std::string_view name) const {
  return std::any_of(options.begin(), options.end(),
                     [name](const GivenWord& word) { return word.name == name; });
}

std::string Words::Value(std::string_view name) const {
  const auto last = std::find_if(options.rbegin(), options.rend(),
                                 [name](const GivenWord& word) { return word.name == name; });
  return last == options.rend() ? "" : last->value;
}

absl::StatusOr<Words> ReadWords(std::span<const Row> rows, Operands operands,
                                const std::vector<std::string>& arguments) {
  return WordReader(rows, arguments).Read(operands);
}

std::optional<Words> ReadCommand(const Call& call, std::span<const Row> rows, Operands operands,
                                 int* exit_code) {
  constexpr Row kOfAll[] = {{"help", 'h'}, {"usage", 0}, {"version", 'V'}};
  std::vector<Row> all(rows.begin(), rows.end());
  for (Row row : kOfAll) {
    row.letter = HasLetter(rows, row.letter) ? '\0' : row.letter;
    if (!HasName(rows, row.name)) {
      all.push_back(row);
    }
  }
  absl::StatusOr<Words> words = ReadWords(all, operands, call.arguments);
  *exit_code = 0;
  if (!words.ok()) {
    call.err << call.name << ": " << std::string(words.status().message()) << "\n";
    *exit_code = 1;
    return std::nullopt;
  }
  if (words->Has("version")) {
    call.out << "slurm " << kSlurmVersion << "\n";
    return std::nullopt;
  }
  if (words->Has("help") || words->Has("usage")) {
    call.out << HelpText(call.name, all);
    return std::nullopt;
  }
  return *std::move(words);
}

std::vector<std::string> SplitCommas(std::string_view text) {
  return absl::StrSplit(std::string(text), ',', absl::SkipEmpty());
}

}  // namespace muster::cli::slurm
