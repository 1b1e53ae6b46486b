#include "cli/slurm/accounts/cmd_sacctmgr.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/accounts/policy_rows.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"

namespace muster::slurm {
namespace {

constexpr Row kManagerRows[] = {
    {"associations", 's'}, {"immediate", 'i'}, {"noheader", 'n'},
    {"oneliner", 'o'},     {"parsable", 'p'},  {"parsable2", 'P'},
    {"quiet", 'Q'},        {"readonly", 'r'},  {"verbose", 'v'},
};

struct ShowRequest {
  ShownKind kind = ShownKind::kUser;
  bool with_associations = false;
  std::string format;
  std::vector<ShownCondition> conditions;
};

// Null-like: false when the word names nothing that we show.
bool ReadKind(const std::string& word, ShownKind* kind) {
  const std::string lower = absl::AsciiStrToLower(word);
  for (const auto& [name, found] :
       {std::pair{"accounts", ShownKind::kAccount},
        std::pair{"associations", ShownKind::kAssociation},
        std::pair{"clusters", ShownKind::kCluster}, std::pair{"qos", ShownKind::kQos},
        std::pair{"users", ShownKind::kUser}}) {
    if (lower.size() >= 2 && absl::StartsWith(name, lower)) {
      *kind = found;
      return true;
    }
  }
  return false;
}

// The column that a key of "where", or a lone name, is about.
std::string ColumnOfKey(const std::string& key, ShownKind kind) {
  const std::string own = kind == ShownKind::kAccount   ? "Account"
                          : kind == ShownKind::kCluster ? "Cluster"
                          : kind == ShownKind::kQos     ? "Name"
                                                        : "User";
  if (key.empty() || absl::StartsWith("names", key)) {
    return own;
  }
  return absl::StartsWith("users", key)      ? "User"
         : absl::StartsWith("accounts", key) ? "Account"
         : absl::StartsWith("clusters", key) ? "Cluster"
                                             : key;
}

absl::StatusOr<ShowRequest> ReadShow(const std::vector<std::string>& operands,
                                     bool with_associations) {
  ShowRequest request;
  request.with_associations = with_associations;
  if (operands.size() < 2 || !ReadKind(operands[1], &request.kind)) {
    return absl::InvalidArgumentError(
        operands.size() < 2 ? "No valid entity in list command"
                            : absl::StrCat("No valid entity in list command: ", operands[1]));
  }
  for (std::size_t i = 2; i < operands.size(); ++i) {
    const std::string& word = operands[i];
    const std::size_t equals = word.find('=');
    const std::string key =
        equals == std::string::npos ? "" : absl::AsciiStrToLower(word.substr(0, equals));
    const std::string value = equals == std::string::npos ? word : word.substr(equals + 1);
    const std::string lower = absl::AsciiStrToLower(word);
    if (equals == std::string::npos && absl::StartsWith(lower, "with")) {
      request.with_associations |= absl::StartsWith(lower, "witha");
    } else if (lower == "where" || lower == "tree" || lower == "set") {
      continue;
    } else if (!key.empty() && absl::StartsWith("format", key)) {
      request.format = value;
    } else {
      request.conditions.push_back({ColumnOfKey(key, request.kind), SplitCommas(value)});
    }
  }
  return request;
}

absl::StatusOr<std::string> ShowPage(const Call& call, const ShowRequest& request,
                                     const PageStyle& style) {
  const ShownColumns columns = ColumnsOf(request.kind);
  const bool wide = request.with_associations && *columns.with_associations != '\0';
  const absl::StatusOr<std::vector<ColumnChoice>> choice =
      ChooseColumns(columns.all, request.format, wide ? columns.with_associations : columns.usual);
  if (!choice.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Unknown field '", choice.status().message(), "'"));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  ASSIGN_OR_RETURN(const ClusterStatus status, connection->Ping());
  ASSIGN_OR_RETURN(
      const std::vector<PolicyView> objects,
      connection->ListPolicy({PolicyKind::kAccount, PolicyKind::kAssociation, PolicyKind::kQos}));
  const bool of_accounts =
      std::any_of(choice->begin(), choice->end(), [&columns](const ColumnChoice& one) {
        return absl::EqualsIgnoreCase(columns.all[one.at].name, "Account");
      });
  return NamedPage(columns.all, *choice,
                   Fulfilling(RowsOfKind(request.kind, objects, status.cluster,
                                         request.with_associations ||
                                             (request.kind == ShownKind::kUser && of_accounts)),
                              columns.all, request.conditions),
                   style);
}

}  // namespace

int RunSacctmgr(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kManagerRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  const std::string verb =
      words->operands.empty() ? "" : absl::AsciiStrToLower(words->operands.front());
  if (verb.empty()) {
    return Fail(call, "no command given: see sacctmgr --help");
  }
  if (!absl::StartsWith("show", verb) && !absl::StartsWith("list", verb)) {
    return FailPlainly(call, absl::StrCat("invalid keyword: ", words->operands.front()));
  }
  const absl::StatusOr<ShowRequest> request = ReadShow(words->operands, words->Has("associations"));
  if (!request.ok()) {
    return FailPlainly(call, std::string(request.status().message()));
  }
  const bool parsable = words->Has("parsable") || words->Has("parsable2");
  const absl::StatusOr<std::string> page =
      ShowPage(call, *request,
               {.header = !words->Has("noheader"),
                .parsable = parsable,
                .ends_with_delimiter = words->Has("parsable")});
  if (!page.ok()) {
    return absl::IsInvalidArgument(page.status())
               ? FailPlainly(call, absl::StrCat(" ", page.status().message()))
               : Fail(call, SlurmText(page.status()));
  }
  call.out << *page << std::flush;
  return 0;
}

}  // namespace muster::slurm
