#include "cli/share/share_file.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"
#include "scheduler/base/decimal.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/share/account_tree.h"
#include "scheduler/core/share/decay.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNameBytesMax = 255;
constexpr int kGrainDecimals = 12;

// What an entry may hold; the bits say what it has held so far.
enum Key : unsigned { kName = 1, kGroup = 2, kShares = 4, kUsage = 8 };

struct KeyName {
  const char* text;
  Key key;
};

struct List {
  const char* name;
  const char* entry;
  std::array<KeyName, 4> keys;
};

constexpr std::array<List, 2> kLists = {
    {{"accounts",
      "an account",
      {{{"name", kName}, {"parent", kGroup}, {"shares", kShares}, {"usage", kUsage}}}},
     {"users",
      "a user",
      {{{"name", kName}, {"account", kGroup}, {"shares", kShares}, {"usage", kUsage}}}}}};

struct Entry {
  std::string name;
  std::string group = kRootAccount;  // its parent, or its account
  ShareCount shares{1};
  DecayedUsage usage;
  unsigned seen = 0;  // Keys
};

enum class Kind { kNull, kText, kNumber, kOther };

struct Scalar {
  Kind kind = Kind::kOther;
  std::string text;
};

std::string Shown(const Scalar& value) {
  return value.kind == Kind::kText ? Quote(value.text) : value.text;
}

// How people write that there is no parent.
bool IsNothing(const Scalar& value) {
  return value.kind == Kind::kNull || (value.kind == Kind::kText && value.text.empty());
}

std::optional<ShareCount> ReadShares(const Scalar& value) {
  if (value.kind == Kind::kText && value.text == "parent") {
    return kParentShares;
  }
  const std::optional<absl::uint128> shares =
      value.kind == Kind::kNumber
          ? ParseDecimal(value.text, 0, kSharesMax.value(), Rounding::kRefuse)
          : std::nullopt;
  return shares ? std::optional(ShareCount(static_cast<std::uint32_t>(*shares))) : std::nullopt;
}

std::optional<DecayedUsage> ReadUsage(const Scalar& value) {
  const std::optional<absl::uint128> grains =
      value.kind == Kind::kNumber
          ? ParseDecimal(value.text, kGrainDecimals,
                         absl::uint128(kShareFileUsageMax) * kGrainsPerSecond, Rounding::kNearest)
          : std::nullopt;
  return grains ? std::optional(core::UsageOf(*grains)) : std::nullopt;
}

// Receives the file piece by piece. Every callback returns false after Fail(), which ends reading.
class TreeReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeReader(const std::string& text) : text_(text) {}

  AccountTree TakeTree() { return std::move(tree_); }
  const std::string& fault() const { return fault_; }

  bool null() override { return Take({Kind::kNull, "null"}); }
  bool boolean(bool value) override { return Take({Kind::kOther, value ? "true" : "false"}); }
  bool number_integer(number_integer_t value) override {
    return Take({Kind::kNumber, absl::StrCat(value)});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return Take({Kind::kNumber, absl::StrCat(value)});
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Take({Kind::kNumber, text});
  }
  bool string(string_t& text) override { return Take({Kind::kText, text}); }
  bool binary(binary_t&) override { return Take({Kind::kOther, "binary"}); }

  bool start_object(std::size_t) override {
    if (level_ == Level::kOutside) {
      level_ = Level::kTop;
      return true;
    }
    if (level_ == Level::kInList) {
      level_ = Level::kInEntry;
      entry_ = Entry();
      key_.text = nullptr;
      return true;
    }
    return Misplaced("an object");
  }

  bool key(string_t& name) override {
    return level_ == Level::kTop ? TakeList(name) : TakeKey(name);
  }

  bool end_object() override {
    if (level_ == Level::kTop) {
      level_ = Level::kOutside;
      return CheckLists();
    }
    level_ = Level::kInList;
    return TakeEntry();
  }

  bool start_array(std::size_t) override {
    if (level_ != Level::kTop) {
      return Misplaced("a list");
    }
    level_ = Level::kInList;
    index_ = 0;
    return true;
  }

  bool end_array() override {
    level_ = Level::kTop;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) override {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
    const auto lines = std::count(text_.begin(), end, '\n');
    const auto line_start = std::find(std::make_reverse_iterator(end), text_.rend(), '\n').base();
    const std::string place =
        absl::StrCat(":", lines + 1, ":", std::max<std::ptrdiff_t>(end - line_start, 1));
    constexpr int kOutOfRange = 406;
    fault_ = error.id == kOutOfRange
                 ? absl::StrCat(place, ": ", Quote(token), " is larger than any number here: use ",
                                kShareFileUsageMax, " at most")
                 : absl::StrCat(place, ": not JSON from here on: mend it");
    return false;
  }

 private:
  enum class Level { kOutside, kTop, kInList, kInEntry };

  std::string Pointer() const {
    std::string pointer;
    if (level_ != Level::kOutside && list_ != nullptr) {
      absl::StrAppend(&pointer, "/", list_->name);
    }
    if (level_ == Level::kInList || level_ == Level::kInEntry) {
      absl::StrAppend(&pointer, "/", index_);
    }
    if (level_ == Level::kInEntry && key_.text != nullptr) {
      absl::StrAppend(&pointer, "/", key_.text);
    }
    return pointer;
  }

  bool Fail(const std::string& text) {
    const std::string pointer = Pointer();
    fault_ = absl::StrCat(pointer.empty() ? "" : ": ", pointer, ": ", text);
    return false;
  }

  bool Misplaced(const std::string& what) {
    switch (level_) {
      case Level::kOutside:
        return Fail(
            absl::StrCat(what, " where the tree should be: use {\"accounts\":[…],\"users\":[…]}"));
      case Level::kTop:
        return Fail(absl::StrCat(what, " where a list should be: use [{…},{…}]"));
      case Level::kInList:
        return Fail(absl::StrCat(what, " where ", list_->entry, " should be: use {\"name\":…}"));
      case Level::kInEntry:
        break;
    }
    return Fail(absl::StrCat(what, " where one value should be: use a number or a text"));
  }

  bool TakeList(const std::string& name) {
    list_ = nullptr;
    const auto found = std::find_if(kLists.begin(), kLists.end(),
                                    [&name](const List& list) { return list.name == name; });
    if (found == kLists.end()) {
      return Fail(absl::StrCat("no key ", Quote(name), " is known: use accounts and users"));
    }
    list_ = &*found;
    const auto number = static_cast<std::size_t>(found - kLists.begin());
    if (lists_seen_.at(number)) {
      return Fail("is there twice: make it one list");
    }
    lists_seen_.at(number) = true;
    return true;
  }

  bool TakeKey(const std::string& name) {
    key_.text = nullptr;
    const auto found = std::find_if(list_->keys.begin(), list_->keys.end(),
                                    [&name](const KeyName& key) { return key.text == name; });
    if (found == list_->keys.end()) {
      return Fail(absl::StrCat(list_->entry, " has no key ", Quote(name), ": use name, ",
                               list_->keys[1].text, ", shares and usage"));
    }
    key_ = *found;
    if ((entry_.seen & key_.key) != 0) {
      return Fail("is there twice: leave one of them out");
    }
    entry_.seen |= key_.key;
    return true;
  }

  bool Take(const Scalar& value) {
    if (level_ != Level::kInEntry) {
      return Misplaced(Shown(value));
    }
    switch (key_.key) {
      case kName:
        return TakeName(value, &entry_.name);
      case kGroup:
        return (IsAccount() && IsNothing(value)) || TakeName(value, &entry_.group);
      case kShares:
        return TakeShares(value);
      case kUsage:
        return TakeUsage(value);
    }
    return false;
  }

  bool TakeName(const Scalar& value, std::string* name) {
    if (value.kind != Kind::kText || value.text.empty()) {
      return Fail(absl::StrCat(Shown(value), " is not a name: use a text that is not empty"));
    }
    const absl::Status status = CheckText(value.text, kNameBytesMax);
    if (!status.ok()) {
      return Fail(std::string(status.message()));
    }
    *name = value.text;
    return true;
  }

  bool TakeShares(const Scalar& value) {
    const std::optional<ShareCount> shares = ReadShares(value);
    if (!shares) {
      return Fail(absl::StrCat(Shown(value),
                               " is not a number of shares: use a whole number from 0 to ",
                               kSharesMax.value(), ", or \"parent\""));
    }
    entry_.shares = *shares;
    return true;
  }

  bool TakeUsage(const Scalar& value) {
    const std::optional<DecayedUsage> usage = ReadUsage(value);
    if (!usage) {
      return Fail(absl::StrCat(Shown(value), " is not an amount of usage: use a number from 0 to ",
                               kShareFileUsageMax));
    }
    entry_.usage = *usage;
    return true;
  }

  bool TakeEntry() {
    const unsigned needed = !IsAccount()                  ? kName | kGroup | kShares | kUsage
                            : entry_.name == kRootAccount ? kName
                                                          : kName | kShares;
    for (const KeyName& key : list_->keys) {
      if ((needed & key.key & ~entry_.seen) != 0) {
        return Fail(absl::StrCat("has no \"", key.text, "\": add it"));
      }
    }
    if (IsAccount()) {
      tree_.accounts.push_back({.name = std::move(entry_.name),
                                .parent = std::move(entry_.group),
                                .shares = entry_.shares,
                                .usage = entry_.usage});
    } else {
      tree_.associations.push_back({.user = std::move(entry_.name),
                                    .account = std::move(entry_.group),
                                    .shares = entry_.shares,
                                    .usage = entry_.usage});
    }
    ++index_;
    return true;
  }

  bool CheckLists() {
    for (std::size_t i = 0; i < kLists.size(); ++i) {
      if (!lists_seen_.at(i)) {
        return Fail(absl::StrCat("has no \"", kLists.at(i).name, "\": add it, if only as []"));
      }
    }
    return true;
  }

  bool IsAccount() const { return list_ == &kLists[0]; }

  const std::string& text_;
  AccountTree tree_;
  std::string fault_;  // behind the file's name
  Level level_ = Level::kOutside;
  const List* list_ = nullptr;
  std::array<bool, 2> lists_seen_{};
  std::size_t index_ = 0;  // of the entry, in its list
  KeyName key_{.text = nullptr, .key = kName};
  Entry entry_;
};

// "/users/3/name" for a fault in an association's user.
std::string PointerOf(const core::TreeFault& fault) {
  const std::string key = fault.field == "user" ? "name" : fault.field;
  return absl::StrCat("/", fault.of_account ? "accounts/" : "users/", fault.index,
                      key.empty() ? "" : "/", key);
}

}  // namespace

absl::StatusOr<AccountTree> ParseShareFile(const std::string& text, const std::string& where) {
  TreeReader reader(text);
  if (!nlohmann::json::sax_parse(text, &reader)) {
    return absl::FailedPreconditionError(absl::StrCat(where, reader.fault()));
  }
  AccountTree tree = reader.TakeTree();
  if (const std::optional<core::TreeFault> fault = core::CheckAccountTree(tree)) {
    return absl::FailedPreconditionError(
        absl::StrCat(where, ": ", PointerOf(*fault), ": ", fault->text));
  }
  return tree;
}

}  // namespace muster::cli
