#include "cli/picture/svg.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/text.h"

namespace muster::cli {
namespace {

constexpr double kSvgMargin = 12;

// At most two decimals, and none where none are needed.
std::string Number(double value) {
  std::string text = absl::StrFormat("%.2f", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

std::string Attribute(const char* name, double value) {
  return absl::StrCat(" ", name, "=\"", Number(value), "\"");
}

std::string Closing(const char* tag, std::string_view title) {
  return title.empty() ? "/>\n"
                       : absl::StrCat("><title>", XmlText(title), "</title></", tag, ">\n");
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string escaped;
  std::string printable = Printable(text);
  // XML has no U+FFFE and U+FFFF.
  for (const char* none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at = 0; (at = printable.find(none, at)) != std::string::npos;) {
      printable.replace(at, 3, "?");
    }
  }
  for (const char c : printable) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

void Svg::Reach(double x, double y) {
  width_ = std::max(width_, x);
  height_ = std::max(height_, y);
}

void Svg::AddBox(const Box& box, const std::string& fill, const std::string& stroke,
                 std::string_view title, double round) {
  absl::StrAppend(&body_, "<rect", Attribute("x", box.x), Attribute("y", box.y),
                  Attribute("width", box.width), Attribute("height", box.height),
                  Attribute("rx", round), " fill=\"", fill, "\" stroke=\"", stroke, "\"",
                  Closing("rect", title));
  Reach(box.x + box.width, box.y + box.height);
}

void Svg::AddText(double x, double y, std::string_view text, const TextStyle& style) {
  const auto& [size, anchor, fill, bold] = style;
  absl::StrAppend(&body_, "<text", Attribute("x", x), Attribute("y", y),
                  Attribute("font-size", size), " text-anchor=\"", anchor, "\" fill=\"", fill, "\"",
                  bold ? " font-weight=\"bold\"" : "", ">", XmlText(text), "</text>\n");
  constexpr double kWidthOfLetter = 0.6;
  const double width = kWidthOfLetter * size * static_cast<double>(DisplayWidth(Printable(text)));
  Reach(x + (anchor == "start" ? width : anchor == "middle" ? width / 2 : 0), y + size / 3);
}

void Svg::AddLine(double x1, double y1, double x2, double y2, const std::string& stroke,
                  double width) {
  absl::StrAppend(&body_, "<line", Attribute("x1", x1), Attribute("y1", y1), Attribute("x2", x2),
                  Attribute("y2", y2), " stroke=\"", stroke, "\"", Attribute("stroke-width", width),
                  "/>\n");
  Reach(std::max(x1, x2), std::max(y1, y2));
}

void Svg::AddArc(const Arc& arc, const std::string& stroke, double width, std::string_view title) {
  const auto [x1, x2, y, depth] = arc;
  // The curve reaches three quarters of the way to its control points.
  const double control = y + depth * 4 / 3;
  absl::StrAppend(&body_, "<path d=\"M", Number(x1), " ", Number(y), " C", Number(x1), " ",
                  Number(control), " ", Number(x2), " ", Number(control), " ", Number(x2), " ",
                  Number(y), "\" fill=\"none\" stroke=\"", stroke, "\"",
                  Attribute("stroke-width", width), Closing("path", title));
  Reach(std::max(x1, x2), y + depth);
}

std::string Svg::Document(std::string_view title) const {
  const std::string width = Number(width_ + kSvgMargin);
  const std::string height = Number(height_ + kSvgMargin);
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                      height, "\" viewBox=\"0 0 ", width, " ", height,
                      "\" font-family=\"DejaVu Sans, Arial, sans-serif\">\n<title>", XmlText(title),
                      "</title>\n<rect width=\"100%\" height=\"100%\" ", "fill=\"#ffffff\"/>\n",
                      body_, "</svg>\n");
}

std::string OwnerColour(std::size_t n) {
  // Eight of Okabe and Ito's and Tol's colours that also the colour-blind tell apart; then round
  // again.
  constexpr std::array<const char*, 8> kColours = {"#56b4e9", "#e69f00", "#44aa77", "#f0e442",
                                                   "#cc79a7", "#88aaee", "#d98a6a", "#b3d36b"};
  return kColours[n % kColours.size()];
}

}  // namespace muster::cli
