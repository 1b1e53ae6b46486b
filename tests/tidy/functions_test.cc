#include "tests/tidy/functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

using testing::ElementsAre;

// "NAME:LINES" of each function in `text`.
std::vector<std::string> Lengths(const std::string& text) {
  std::vector<std::string> lengths;
  for (const Function& function : FunctionsOf(MakeSource("a.cc", text))) {
    lengths.push_back(function.name + ":" +
                      std::to_string(function.last_line - function.first_line + 1));
  }
  return lengths;
}

std::string FunctionOf(size_t lines) {
  std::string text = "void F() {\n";
  for (size_t i = 2; i < lines; ++i) {
    text += "  Step();\n";
  }
  return text + "}\n";
}

TEST(Functions, AreFoundInNamespacesAndClasses) {
  EXPECT_THAT(Lengths(R"(namespace a::b {
int Free(int n) {
  return n;
}
class [[nodiscard]] C : public Base {
 public:
  explicit C(int n) : n_{n}, list_({1, 2}) {
    Use();
  }
  int n() const { return n_; }
  bool operator==(const C& other) const = default;
  C& operator=(const C& other) {
    return *this;
  }

 private:
  int n_ = 0;
};
enum class E { kA, kB };
void WithDefault(Options options = {}, std::vector<int> list = {1, 2}) {
  Use();
}
}  // namespace
)"),
              ElementsAre("Free:3", "C:3", "n:1", "operator:3", "WithDefault:3"));
}

TEST(Functions, ControlFlowAndLambdasBelongToTheirFunction) {
  EXPECT_THAT(Lengths(R"(void F() {
  for (int i = 0; i < 3; ++i) {
    if (i > 1) {
      Run([&](int n) {
        return n;
      });
    }
  }
}
)"),
              ElementsAre("F:9"));
}

TEST(Functions, TablesAreValuesAndLambdasInNamespacesAreFunctions) {
  EXPECT_THAT(Lengths(R"(constexpr std::array<Row, 2> kRows = {{
    {"a", 1},
    {"b", 2},
}};
const auto kTwice = [](int n) {
  return 2 * n;
};
std::map<int, int> names{
    {1, 2}};
)"),
              ElementsAre("kTwice:3"));
}

TEST(Functions, BracesInLiteralsCommentsAndMacrosDoNotCount) {
  EXPECT_THAT(Lengths("#define OPEN(x) \\\n  do { x\n"
                      "// {\n"
                      "void F() {\n"
                      "  Use('{', \"{\", R\"x({ )\" {)x\", 1'000); /* { */\n"
                      "}\n"
                      "void G() {\n"
                      "}\n"),
              ElementsAre("F:3", "G:2"));
}

TEST(Functions, ASignatureOnManyLinesCounts) {
  EXPECT_THAT(Lengths(R"(template <class T>
absl::StatusOr<T> Make(
    const T& first,
    const T& second) {
  return first;
}
Type::Type(int a)
    : a_(a),
      b_{a},
      c_(a) {
  Use();
}
)"),
              ElementsAre("Make:6", "Type::Type:6"));
}

TEST(Functions, SeventyLinesPassAndSeventyOneDoNot) {
  EXPECT_TRUE(CheckFunctionLengths(MakeSource("a.cc", FunctionOf(70))).empty());
  const auto findings = CheckFunctionLengths(MakeSource("a.cc", FunctionOf(71)));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(ToString(findings[0]), testing::StartsWith("a.cc:1: F has 71 lines"));
}

TEST(Functions, FilesAndMainsHaveALength) {
  const auto lines = [](size_t count) { return std::string(count, '\n'); };
  EXPECT_TRUE(CheckFileLength(MakeSource("a.cc", lines(600))).empty());
  EXPECT_EQ(CheckFileLength(MakeSource("a.cc", lines(601))).size(), 1U);
  EXPECT_EQ(CheckFileLength(MakeSource("cli/demo", "#!/bin/sh\n" + lines(600))).size(), 1U);
  EXPECT_TRUE(CheckFileLength(MakeSource("LICENSE", lines(601))).empty());
  EXPECT_TRUE(CheckFileLength(MakeSource("cli/main.cc", lines(120))).empty());
  EXPECT_EQ(CheckFileLength(MakeSource("cli/main.cc", lines(121))).size(), 1U);
}

std::vector<std::string> Sizes(const std::string& text) {
  std::vector<std::string> sizes;
  for (const Class& each : ClassesOf(MakeSource("a.h", text))) {
    sizes.push_back(each.name + ":" + std::to_string(each.functions) + ":" +
                    std::to_string(each.members));
  }
  return sizes;
}

TEST(Classes, FunctionsAndMembersAreCountedWhereverTheyStand) {
  EXPECT_THAT(Sizes(R"(class Widget final : public Base {
 public:
  using Done = std::function<void(int)>;
  explicit Widget(int a) : a_(a), b_{a} {}
  Widget(const Widget&) = delete;
  ~Widget() override;
  [[nodiscard]] bool empty() const { return b_ == 0; }
  friend bool operator==(const Widget&, const Widget&) = default;
  template <class T>
  void Take(std::map<T, int> all);

 private:
  struct Part {
    int x = 0;
  };
  class Inner {
    void F() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  };
  static constexpr int kMost = 3;
  int a_;
  int b_{0};
  const Done done_ = {};
  std::map<int, std::string> names_ ABSL_GUARDED_BY(mutex_);
};
struct Value {
  int many = 0;
};
enum class Kind { kOne };
)"),
              ElementsAre("Widget::Inner:1:0", "Widget:4:4"));
}

TEST(Classes, AClassThatGrowsBeyondItsLineIsFound) {
  const Source big = MakeSource(
      "a.h", "class Big {\n" + [] {
        std::string functions;
        for (int i = 0; i < 26; ++i) {
          functions += "  void F" + std::to_string(i) + "();\n";
        }
        return functions;
      }() + "};\n");
  EXPECT_EQ(CheckClassSizes({big}, MakeSource("l.txt", "")).size(), 1U);
  EXPECT_TRUE(CheckClassSizes({big}, MakeSource("l.txt", "a.h Big 26 0\n")).empty());
  EXPECT_EQ(CheckClassSizes({big}, MakeSource("l.txt", "a.h Big 27 0\n")).size(), 1U)
      << "it shrank";
  EXPECT_EQ(CheckClassSizes({}, MakeSource("l.txt", "a.h Big 26 0\n")).size(), 1U) << "it went";
}

}  // namespace
}  // namespace muster::tidy
