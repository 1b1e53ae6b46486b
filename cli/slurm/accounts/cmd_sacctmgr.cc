#include "cli/slurm/accounts/cmd_sacctmgr.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/accounts/account_change.h"
#include "cli/slurm/accounts/account_words.h"
#include "cli/slurm/accounts/job_notes.h"
#include "cli/slurm/accounts/policy_rows.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kManagerRows[] = {
    {"associations", 's'},
    {"immediate", 'i'},
    {"noheader", 'n'},
    {"oneliner", 'o'},
    {"parsable", 'p'},
    {"parsable2", 'P'},
    {"quiet", 'Q'},
    {"readonly", 'r'},
    {"verbose", 'v'},
    {"json", 0, Takes::kOptional},
    {"yaml", 0, Takes::kOptional},
};

constexpr std::uint32_t kChangesMax = 100'000;

struct ShowRequest {
  ShownKind kind = ShownKind::kUser;
  bool with_associations = false;
  bool document = false;  // --json
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
        std::pair{"tres", ShownKind::kTres}, std::pair{"transactions", ShownKind::kTransaction},
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
  std::string own = kind == ShownKind::kAccount   ? "Account"
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

// Whether there is a column to compare, or Slurm has such a condition, which then holds for all.
bool IsCondition(const std::string& column, ShownKind kind) {
  const auto columns = ColumnsOf(kind).all;
  return std::any_of(columns.begin(), columns.end(),
                     [&column](const NamedColumn& each) {
                       return absl::StartsWithIgnoreCase(each.name, column);
                     }) ||
         column == "id" || column == "start" || column == "end" || column == "onlydefaults" ||
         column == "cluster" || column == "Cluster";
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
    } else if (!key.empty() && !IsCondition(ColumnOfKey(key, request.kind), request.kind)) {
      return absl::InvalidArgumentError(absl::StrCat(" Unknown condition: ", word));
    } else {
      request.conditions.push_back({ColumnOfKey(key, request.kind), SplitCommas(value)});
    }
  }
  return request;
}

const char* DocumentKey(ShownKind kind) {
  switch (kind) {
    case ShownKind::kAccount:
      return "accounts";
    case ShownKind::kAssociation:
      return "associations";
    case ShownKind::kCluster:
      return "clusters";
    case ShownKind::kQos:
      return "qos";
    case ShownKind::kTres:
      return "tres";
    case ShownKind::kTransaction:
      return "transactions";
    case ShownKind::kUser:
      break;
  }
  return "users";
}

// With --json every column, whatever was chosen.
std::string PageOrDocument(const ShowRequest& request, const ShownColumns& columns,
                           const std::vector<ColumnChoice>& choice,
                           const std::vector<std::vector<std::string>>& rows,
                           const PageStyle& style, const std::string& cluster) {
  if (!request.document) {
    return NamedPage(columns.all, choice, rows, style);
  }
  std::vector<std::string> names;
  for (const NamedColumn& column : columns.all) {
    names.emplace_back(column.name);
  }
  return SlurmDocument(DocumentKey(request.kind), RowsEntry(names, rows), cluster);
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
  ASSIGN_OR_RETURN(const ClusterStatus status, connection->Call(Ping{}));
  if (request.kind == ShownKind::kTransaction) {
    ASSIGN_OR_RETURN(
        const std::vector<PolicyChangeView> changes,
        connection->Call(PolicyHistory{
            {PolicyKind::kAccount, PolicyKind::kAssociation, PolicyKind::kQos}, "", kChangesMax}));
    return PageOrDocument(request, columns, *choice,
                          Fulfilling(TransactionRows(changes, Clockface(call.environment)),
                                     columns.all, request.conditions),
                          style, status.cluster);
  }
  ASSIGN_OR_RETURN(const std::vector<PolicyView> objects,
                   connection->Call(ListPolicy{
                       {PolicyKind::kAccount, PolicyKind::kAssociation, PolicyKind::kQos}}));
  const bool of_accounts =
      std::any_of(choice->begin(), choice->end(), [&columns](const ColumnChoice& one) {
        return absl::EqualsIgnoreCase(columns.all[one.at].name, "Account");
      });
  return PageOrDocument(
      request, columns, *choice,
      Fulfilling(RowsOfKind(request.kind, objects, status.cluster,
                            request.with_associations ||
                                (request.kind == ShownKind::kUser && of_accounts)),
                 columns.all, request.conditions),
      style, status.cluster);
}

// Jobs that the accounting takes for running and the controller does not know: there are none,
// because one store keeps both.
int ShowRunaways(const Call& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  const absl::StatusOr<ClusterStatus> status =
      connection.ok() ? (*connection)->Call(Ping{})
                      : absl::StatusOr<ClusterStatus>(connection.status());
  if (!status.ok()) {
    return Fail(call, SlurmText(status.status()));
  }
  call.out << "Runaway Jobs: No runaway jobs found on cluster " << status->cluster << std::endl;
  return 0;
}

int ShowAsked(const Call& call, const Words& words) {
  const absl::StatusOr<bool> document = WantsDocument(words);
  absl::StatusOr<ShowRequest> request = ReadShow(words.operands, words.Has("associations"));
  if (!request.ok() || !document.ok()) {
    return request.ok() ? Fail(call, std::string(document.status().message()))
                        : FailPlainly(call, std::string(request.status().message()));
  }
  request->document = *document;
  const bool parsable = words.Has("parsable") || words.Has("parsable2");
  const absl::StatusOr<std::string> page = ShowPage(call, *request,
                                                    {.header = !words.Has("noheader"),
                                                     .parsable = parsable,
                                                     .ends_with_delimiter = words.Has("parsable")});
  if (!page.ok()) {
    return absl::IsInvalidArgument(page.status())
               ? FailPlainly(call, absl::StrCat(" ", page.status().message()))
               : Fail(call, SlurmText(page.status()));
  }
  call.out << *page << std::flush;
  return 0;
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
  const std::vector<std::string> rest(words->operands.begin() + 1, words->operands.end());
  if (ManagerVerb change = ManagerVerb::kAdd; ReadManagerVerb(verb, &change)) {
    const ManagerManner manner = {.immediate = words->Has("immediate"),
                                  .quiet = words->Has("quiet"),
                                  .readonly = words->Has("readonly")};
    const bool of_jobs = change == ManagerVerb::kModify && !manner.readonly && !rest.empty() &&
                         (rest.front() == "job" || rest.front() == "jobs");
    return of_jobs ? ChangeJobNotes(call, {rest.begin() + 1, rest.end()}, manner)
                   : ChangeAccounts(call, change, rest, manner);
  }
  if (verb == "dump") {
    return DumpAccounts(call, rest);
  }
  if (verb == "version") {
    call.out << "slurm " << kSlurmVersion << std::endl;
    return 0;
  }
  if (!absl::StartsWith("show", verb) && !absl::StartsWith("list", verb)) {
    return FailPlainly(call, absl::StrCat("invalid keyword: ", words->operands.front()));
  }
  if (!rest.empty() && absl::StartsWithIgnoreCase(rest.front(), "runaway")) {
    return ShowRunaways(call);
  }
  return ShowAsked(call, *words);
}

}  // namespace muster::cli::slurm
