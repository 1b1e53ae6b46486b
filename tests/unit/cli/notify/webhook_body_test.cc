#include "cli/notify/webhook_body.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/notify/notifier_config.h"

namespace muster::cli {
namespace {

WebhookWords SomeWords() {
  return {"END", R"(job 7 "a\b" ended)", "one\ntwo", "7", "ada", R"({"id":"41","data":{}})"};
}

TEST(WebhookBodyTest, WithoutATemplateItIsOurOwnJson) {
  const WebhookBody body = MakeWebhookBody({}, "https://hooks.example.org/a", SomeWords());
  EXPECT_EQ(body.type, "application/json");
  const auto json = nlohmann::json::parse(body.body);
  EXPECT_EQ(json["news"], "END");
  EXPECT_EQ(json["event"]["id"], "41");
  EXPECT_FALSE(json.contains("text"));
  WebhookWords clock = SomeWords();
  clock.event.clear();
  EXPECT_TRUE(
      nlohmann::json::parse(MakeWebhookBody({}, "https://x/", clock).body)["event"].is_null());
}

TEST(WebhookBodyTest, TheLongestUrlThatItBeginsWithCountsAndWordsAreEscaped) {
  const std::vector<WebhookTemplate> templates = {
      {"https://hooks.example.org/", R"({"content": "no"})"},
      {"https://hooks.example.org/chat/",
       R"j({"text": "{subject}: {text} ({user}, {job})", "event": {event}})j"},
      {"https://other.example.org/", "{news}", "text/plain"}};
  const auto chat = nlohmann::json::parse(
      MakeWebhookBody(templates, "https://hooks.example.org/chat/T1", SomeWords()).body);
  EXPECT_EQ(chat["text"], "job 7 \"a\\b\" ended: one\ntwo (ada, 7)");
  EXPECT_EQ(chat["event"]["id"], "41");
  EXPECT_EQ(MakeWebhookBody(templates, "https://hooks.example.org/b", SomeWords()).body,
            R"({"content": "no"})");
  const WebhookBody plain = MakeWebhookBody(templates, "https://other.example.org/", SomeWords());
  EXPECT_EQ(plain.body, "END");
  EXPECT_EQ(plain.type, "text/plain");
}

TEST(WebhookBodyTest, MistakesNameTheirLine) {
  const auto why = [](const std::string& text) {
    ConfigFile file = ConfigFile::Parse(text, "n.toml").value();
    std::vector<WebhookTemplate> templates;
    absl::Status status = ReadWebhookTemplates(file, &templates);
    status.Update(file.RefuseUnknownKeys());
    return std::string(status.message());
  };
  const std::string head = "[webhook.chat]\nurl = \"https://x/\"\n";
  EXPECT_EQ(why(head + "body = '{\"text\": \"{subject}\"}'\n"), "");
  EXPECT_EQ(why(head + "type = \"text/plain\"\nbody = '{ as it is } {job}'\n"), "");
  EXPECT_EQ(why(head + "body = '{\"text\": \"{colour}\"}'\n")
                .find("n.toml:3: webhook.chat.body: {colour}"),
            0U);
  EXPECT_EQ(why(head + "body = '{\"text\": {subject}}'\n")
                .find("n.toml:3: webhook.chat.body: is no JSON"),
            0U);
  EXPECT_EQ(why("[webhook.chat]\nurl = \"mail\"\nbody = '{}'\n").find("n.toml:2: webhook.chat.url"),
            0U);
  EXPECT_EQ(why(head).find("n.toml:1: webhook.chat.body: says nothing"), std::string::npos)
      << "an absent key has no line";
  EXPECT_NE(why(head).find("webhook.chat.body: says nothing"), std::string::npos);
  EXPECT_EQ(why(head + "body = '{}'\ncolour = 1\n").find("n.toml:4: "), 0U);
}

}  // namespace
}  // namespace muster::cli
