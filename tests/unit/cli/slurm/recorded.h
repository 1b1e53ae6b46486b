#pragma once

// What Slurm itself answered (tests/fixtures/slurm), and the same jobs and nodes as views.
//
// Header-only; plain functions. Invariant: a command that was not recorded is a failure of the test
// that asks for it.

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace muster::cli::slurm::recorded {

struct Answer {
  int code = -1;
  std::string out;
  std::string err;
};

// "\x41" as the byte.
inline std::string Unescaped(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      bytes += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

// What `command` answered, as the file NAME.golden has it.
inline Answer Of(const std::string& name, const std::string& command) {
  std::ifstream file(std::string(MUSTER_FIXTURES) + "/slurm/" + name + ".golden");
  Answer answer;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("$ ", 0) == 0) {
      if (found) {
        break;
      }
      found = line.substr(2) == command;
    } else if (found && line[0] == '[') {
      answer.code = std::stoi(line.substr(1));
    } else if (found) {
      (line[0] == '1' ? answer.out : answer.err) +=
          Unescaped(line.substr(2)) + (line[1] == '|' ? "\n" : "");
    }
  }
  EXPECT_TRUE(found) << name << ".golden lacks: " << command;
  return answer;
}

// The words of a recorded command after its name, as a shell reads them: quotes are '.
inline std::vector<std::string> WordsOf(const std::string& command) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  bool quoted = false;
  for (const char c : command) {
    if (c == '\'') {
      quoted = !quoted;
      word = word.value_or("");
    } else if (c == ' ' && !quoted) {
      if (word.has_value()) {
        words.push_back(*word);
      }
      word.reset();
    } else {
      word = word.value_or("") + c;
    }
  }
  if (word.has_value()) {
    words.push_back(*word);
  }
  words.erase(words.begin());
  return words;
}

}  // namespace muster::cli::slurm::recorded
