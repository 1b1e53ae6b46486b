#include "cli/slurm/accounts/named_columns.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/field_list.h"

namespace muster::cli::slurm {

absl::StatusOr<std::vector<ColumnChoice>> ChooseColumns(std::span<const NamedColumn> columns,
                                                        std::string_view format,
                                                        std::string_view usual) {
  std::vector<ColumnChoice> choice;
  for (const SizedField& field : ParseSizedFormat(format.empty() ? usual : format)) {
    const auto whole = std::find_if(columns.begin(), columns.end(), [&](const NamedColumn& each) {
      return absl::EqualsIgnoreCase(each.name, field.name);
    });
    const auto found =
        whole != columns.end()
            ? whole
            : std::find_if(columns.begin(), columns.end(), [&](const NamedColumn& each) {
                return absl::StartsWithIgnoreCase(each.name, field.name);
              });
    if (found == columns.end()) {
      return absl::InvalidArgumentError(field.name);
    }
    choice.push_back(
        {static_cast<std::size_t>(found - columns.begin()), field.width.value_or(found->width)});
  }
  return choice;
}

std::string NamedPage(std::span<const NamedColumn> columns, const std::vector<ColumnChoice>& choice,
                      const std::vector<std::vector<std::string>>& rows, const PageStyle& style) {
  std::vector<PageColumn> shown;
  for (const ColumnChoice& one : choice) {
    const NamedColumn& column = columns[one.at];
    shown.push_back({*column.title == '\0' ? column.name : column.title, one.width});
  }
  std::string page = PageHead(shown, style);
  const std::string suffix = style.parsable ? style.delimiter : "";
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string> values;
    values.reserve(choice.size());
    for (const ColumnChoice& one : choice) {
      values.push_back(Harmless(row[one.at], suffix));
    }
    page += PageLine(shown, values, style);
  }
  return page;
}

}  // namespace muster::cli::slurm
