#include "cli/manual/mdoc.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

constexpr std::string_view kClosing = ".,:;)]?!";
constexpr std::string_view kEllipsis = "…";
constexpr std::size_t kLineMax = 79;

// A part of a word: text, or what a macro marks.
struct Piece {
  std::string macro;  // empty: text
  std::string text;
};
using Word = std::vector<Piece>;

unsigned char Byte(char c) {
  return static_cast<unsigned char>(c);
}

bool IsNameCharacter(char c) {
  return absl::ascii_islower(Byte(c)) || absl::ascii_isdigit(Byte(c)) || c == '-';
}

std::string Escape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kEllipsis)) {
      out += "...";
      i += kEllipsis.size() - 1;
    } else if (text[i] == '\\') {
      out += "\\e";
    } else {
      out += text[i];
    }
  }
  return out;
}

// `text` as one argument of a macro that is no delimiter and no macro itself.
std::string Argument(std::string_view text) {
  std::string out;
  for (const char c : Escape(text)) {
    out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  }
  const bool like_macro = text.size() == 2 && absl::ascii_isalnum(Byte(text[1])) &&
                          (absl::ascii_isupper(Byte(text[0])) || text[0] == '%');
  const bool delimiter = text.size() == 1 && (kClosing.find(text[0]) != std::string_view::npos ||
                                              text == "(" || text == "[" || text == "|");
  if (like_macro || delimiter) {
    out.insert(0, "\\&");
  } else if (kClosing.find(text.back()) != std::string_view::npos) {
    out += "\\&";
  }
  return out.find(' ') == std::string::npos ? out : absl::StrCat("\"", out, "\"");
}

// How many characters of `text` say NAME(SECTION).
std::size_t PageReference(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && IsNameCharacter(text[at])) {
    ++at;
  }
  const bool named = at > 0 && absl::ascii_islower(Byte(text[0]));
  return named && at + 2 < text.size() && text[at] == '(' &&
                 absl::ascii_isdigit(Byte(text[at + 1])) && text[at + 2] == ')'
             ? at + 3
             : 0;
}

// How many characters of `text` say --option or -o.
std::size_t OptionReference(std::string_view text) {
  if (text.size() > 2 && text.starts_with("--") && absl::ascii_islower(Byte(text[2]))) {
    std::size_t at = 2;
    while (at < text.size() && IsNameCharacter(text[at])) {
      ++at;
    }
    return at;
  }
  const bool letter = text.size() > 1 && text[0] == '-' && absl::ascii_isalpha(Byte(text[1]));
  return letter && (text.size() == 2 || !absl::ascii_isalnum(Byte(text[2]))) ? 2 : 0;
}

std::size_t VariableReference(std::string_view text) {
  std::size_t at = 1;
  while (at < text.size() && (absl::ascii_isalnum(Byte(text[at])) || text[at] == '_')) {
    ++at;
  }
  return text[0] == '$' && at > 1 && absl::ascii_isupper(Byte(text[1])) ? at : 0;
}

// Reads running text word by word.
class Reader {
 public:
  Reader(std::string_view text, bool marked) : left_(text), marked_(marked) {}

  // The next word; empty at the end.
  Word Next() {
    left_.remove_prefix(std::min(left_.find_first_not_of(' '), left_.size()));
    Word word;
    while (!left_.empty() && left_[0] != ' ') {
      if (!TakeSpan(&word) && !TakeReference(&word)) {
        if (word.empty() || !word.back().macro.empty()) {
          word.push_back({});
        }
        word.back().text += left_[0];
        left_.remove_prefix(1);
      }
    }
    return word;
  }

 private:
  bool TakeSpan(Word* word) {
    struct Span {
      const char* open;
      const char* close;
      const char* macro;
      bool blanks;  // may be within
    };
    static constexpr Span kSpans[] = {{"`", "`", "Ql", true},
                                      {"**", "**", "Cm", true},
                                      {"*", "*", "Ar", false},
                                      {"<", ">", "Pa", false}};
    for (const Span& span : kSpans) {
      const std::string_view open = span.open;
      if (!marked_ || !left_.starts_with(open)) {
        continue;
      }
      const std::size_t close = left_.find(span.close, open.size());
      const bool blank = left_.substr(0, close).find(' ') != std::string_view::npos;
      if (close != std::string_view::npos && close > open.size() && (span.blanks || !blank)) {
        word->push_back({span.macro, std::string(left_.substr(open.size(), close - open.size()))});
        left_.remove_prefix(close + open.size());
        return true;
      }
    }
    return false;
  }

  bool TakeReference(Word* word) {
    if (const std::size_t size = VariableReference(left_); size > 0) {
      word->push_back({"Ev", std::string(left_.substr(1, size - 1))});
      left_.remove_prefix(size);
      return true;
    }
    const char before = word->empty() ? ' ' : word->back().text.back();
    if (absl::ascii_isalnum(Byte(before)) || before == '-' || before == '_' || before == ')') {
      return false;
    }
    if (const std::size_t size = OptionReference(left_); size > 0) {
      word->push_back({"Fl", std::string(left_.substr(1, size - 1))});
      left_.remove_prefix(size);
      return true;
    }
    if (const std::size_t size = PageReference(left_); size > 0) {
      word->push_back({"Xr", absl::StrCat(std::string(left_.substr(0, size - 3)), " ",
                                          std::string(left_.substr(size - 2, 1)))});
      left_.remove_prefix(size);
      return true;
    }
    return false;
  }

  std::string_view left_;
  bool marked_;
};

std::string PieceArguments(const Piece& piece) {
  return absl::StrCat(piece.macro, " ", piece.macro == "Xr" ? piece.text : Argument(piece.text));
}

// The text after a marked piece: closing delimiters stand alone, anything else is joined by Ns.
void AppendTail(std::string_view text, std::string* out) {
  if (text.find_first_not_of(kClosing) != std::string_view::npos) {
    const std::size_t end = text.find_last_not_of(kClosing) + 1;
    absl::StrAppend(out, " Ns ", Argument(text.substr(0, end)));
    text.remove_prefix(end);
  }
  for (const char c : text) {
    absl::StrAppend(out, " ", std::string(1, c));
  }
}

// A word as arguments of a macro line.
std::string WordArguments(const Word& word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i].macro.empty()) {
      if (i == 0) {
        absl::StrAppend(&out, "No ", Argument(word[i].text));
      } else {
        AppendTail(word[i].text, &out);
      }
    } else {
      absl::StrAppend(&out, i == 0 ? "" : " Ns ", PieceArguments(word[i]));
    }
  }
  return out;
}

bool IsText(const Word& word) {
  return word.size() == 1 && word[0].macro.empty();
}

bool EndsSentence(std::string_view word) {
  const std::size_t end = word.find_last_not_of(")\"");
  return end != std::string_view::npos && end >= 2 && (word[end] == '.' || word[end] == '?') &&
         word != "e.g." && word != "al.";
}

// A paragraph: words with marks on lines of their own, and a sentence a line.
std::string Paragraph(std::string_view text, bool marked) {
  Reader reader(text, marked);
  std::string out;
  std::string line;
  const auto flush = [&out, &line] {
    if (!line.empty()) {
      absl::StrAppend(&out, line[0] == '.' || line[0] == '\'' ? "\\&" : "", line, "\n");
      line.clear();
    }
  };
  for (Word word = reader.Next(); !word.empty(); word = reader.Next()) {
    if (!IsText(word)) {
      flush();
      absl::StrAppend(&out, ".", WordArguments(word), "\n");
      continue;
    }
    const std::string escaped = Escape(word[0].text);
    if (line.size() + 1 + escaped.size() > kLineMax) {
      flush();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", escaped);
    if (EndsSentence(word[0].text)) {
      flush();
    }
  }
  flush();
  return out;
}

// A list's term as arguments of .It.
std::string Term(std::string_view text) {
  Reader reader(text, true);
  std::string out;
  for (Word word = reader.Next(); !word.empty(); word = reader.Next()) {
    absl::StrAppend(&out, out.empty() ? "" : " ",
                    IsText(word) && out.empty() ? Argument(word[0].text) : WordArguments(word));
  }
  return out;
}

// Gathers lines of a source into mdoc.
class Writer {
 public:
  void Add(const std::string& line) {
    const bool literal = line.starts_with("    ");
    if (literal_ && !literal) {
      End(".Ed\n", &literal_);
    }
    if (line.empty()) {
      Flush();
      End(".El\n", &list_);
      gap_ = !out_.empty();
    } else if (literal) {
      AddLiteral(line.substr(4));
    } else if (line.starts_with(": ")) {
      Flush();
      Begin(".Bl -tag -width Ds\n", &list_);
      absl::StrAppend(&out_, ".It ", Term(line.substr(2)), "\n");
    } else if (line[0] == '.') {
      Flush();
      Part(line);
      absl::StrAppend(&out_, line, "\n");
    } else {
      absl::StrAppend(&text_, text_.empty() ? "" : " ", line);
    }
  }

  std::string Finish() {
    Flush();
    End(".Ed\n", &literal_);
    End(".El\n", &list_);
    return std::move(out_);
  }

 private:
  // .Pp where a paragraph begins; a list or a literal block parts by itself.
  void Part(std::string_view next) {
    if (gap_ && !next.starts_with(".B")) {
      out_ += ".Pp\n";
    }
    gap_ = false;
  }
  void Flush() {
    if (!text_.empty()) {
      Part(text_);
      out_ += Paragraph(text_, true);
      text_.clear();
    }
  }
  void AddLiteral(std::string_view line) {
    Flush();
    Begin(".Bd -literal -offset indent\n", &literal_);
    absl::StrAppend(&out_, line.starts_with('.') ? "\\&" : "", Escape(line), "\n");
  }
  void Begin(const char* macro, bool* open) {
    if (!*open) {
      Part(macro);
      out_ += macro;
      *open = true;
    }
  }
  void End(const char* macro, bool* open) {
    if (*open) {
      out_ += macro;
      *open = false;
      gap_ = true;
    }
  }

  std::string out_;
  std::string text_;  // of the paragraph that is read
  bool gap_ = false;
  bool list_ = false;
  bool literal_ = false;
};

// How many characters of `text` are one word of a synopsis, and the macro that marks it; 1 and ""
// for anything else.
std::size_t SynopsisWord(std::string_view text, std::string* macro) {
  std::size_t at = 0;
  if (absl::ascii_isupper(Byte(text[0]))) {
    while (at < text.size() && (absl::ascii_isupper(Byte(text[at])) || text[at] == '_')) {
      ++at;
    }
    *macro = "Ar";
    return at;
  }
  while (at < text.size() && (IsNameCharacter(text[at]) || text[at] == '_')) {
    ++at;
  }
  const std::string_view word = text.substr(0, at);
  if (at > 0 && text[0] != '-') {
    *macro = word == "options" || word == "option" ? "Ar" : "Cm";
    return at;
  }
  macro->clear();
  return 1;
}

// The next of `left` as an argument: a marked word, a bracket, an ellipsis or a mark.
std::string NextOfSynopsis(std::string_view* left) {
  for (const std::string_view ellipsis : {kEllipsis, std::string_view("...")}) {
    if (left->starts_with(ellipsis)) {
      left->remove_prefix(ellipsis.size());
      return "...";
    }
  }
  if (const std::size_t size = OptionReference(*left); size > 0) {
    const std::string name(left->substr(1, size - 1));
    left->remove_prefix(size);
    return absl::StrCat("Fl ", name);
  }
  std::string macro;
  const std::size_t size = SynopsisWord(*left, &macro);
  const std::string_view word = left->substr(0, size);
  left->remove_prefix(size);
  if (!macro.empty()) {
    return absl::StrCat(macro, " ", Argument(word));
  }
  return word == "["   ? "Oo"
         : word == "]" ? "Oc"
         : word == "|" ? "|"
                       : absl::StrCat("No ", Argument(word));
}

}  // namespace

std::string MdocText(const std::vector<std::string>& lines) {
  Writer writer;
  for (const std::string& line : lines) {
    writer.Add(line);
  }
  return writer.Finish();
}

std::string MdocSentence(std::string_view help) {
  return Paragraph(absl::StrCat(std::string(help), help.ends_with('.') ? "" : "."), false);
}

std::string MdocSynopsis(std::string_view words) {
  std::string out;
  std::string before;
  bool apart = true;
  while (!words.empty()) {
    if (words[0] == ' ') {
      words.remove_prefix(1);
      apart = true;
      continue;
    }
    const std::string next = NextOfSynopsis(&words);
    const bool spaced = next == "..." || next == "|" || before == "|" || before == "...";
    const bool joined = !apart && !spaced && before != "Oo" && next != "Oc";
    absl::StrAppend(&out, out.empty() ? "" : " ", joined ? "Ns " : "", next);
    before = next;
    apart = false;
  }
  return out;
}

}  // namespace muster::cli
