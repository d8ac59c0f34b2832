// SPDX-License-Identifier: Apache-2.0
#include "redaction.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/host_name.hpp>
#include <boost/system/error_code.hpp>
#include <cctype>

#include "host/platform/platform.hpp"

namespace assay {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// The words of a path of names: what a folder's name may be made of.
bool in_a_name(char c) {
  return c != '/' && c != '\\' && c != ' ' && c != ':' && c != '"' && c != '\'' && c != '\n' &&
         c != ',' && c != ')';
}

std::string without_homes(std::string_view text) {
  static constexpr std::array<std::string_view, 4> parents{"/home/", "/Users/", ":\\Users\\",
                                                           ":/Users/"};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || !is_word(text[i - 1]);
    const std::string_view rest = text.substr(i);
    const auto parent = std::find_if(parents.begin(), parents.end(),
                                     [&](std::string_view p) { return rest.starts_with(p); });
    const bool drive = parent != parents.end() && parent->front() == ':';
    std::size_t name = parent == parents.end() ? 0 : parent->size();
    while (name > 0 && name < rest.size() && in_a_name(rest[name])) {
      ++name;
    }
    if (parent != parents.end() && name > parent->size() && (begins || drive)) {
      if (drive && !out.empty()) {
        out.pop_back();  // the drive's letter
      }
      out += '~';
      i += name;
    } else if (begins && rest.starts_with("/root") && (rest.size() == 5 || !is_word(rest[5]))) {
      out += '~';
      i += 5;
    } else {
      out += text[i++];
    }
  }
  return out;
}

std::string replaced(std::string text, const std::string& word, std::string_view by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool whole =
        (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
    if (whole) {
      text.replace(at, word.size(), by);
    }
    at += whole ? by.size() : word.size();
  }
  return text;
}

// A name such as "a" or "root" is a word of its own in every log.
bool tells(const std::string& name) { return name.size() >= 3 && name != "root"; }

}  // namespace

redaction::redaction(std::vector<std::string> users, std::vector<std::string> hosts,
                     std::vector<std::string> homes)
    : users_(std::move(users)), hosts_(std::move(hosts)), homes_(std::move(homes)) {
  std::erase_if(homes_, [](const std::string& home) { return home.size() < 4; });
  std::erase_if(users_, [](const std::string& name) { return !tells(name); });
  std::erase_if(hosts_,
                [](const std::string& name) { return !tells(name) || name == "localhost"; });
}

redaction redaction::of_this_machine() {
  std::vector<std::string> users;
  const auto variables = platform::environment_variables();
  for (const char* variable : {"USER", "LOGNAME", "USERNAME", "SUDO_USER"}) {
    if (const auto found = variables.find(variable); found != variables.end()) {
      users.push_back(found->second);
    }
  }
  boost::system::error_code error;
  std::vector<std::string> hosts{boost::asio::ip::host_name(error)};
  const std::string short_name = hosts.front().substr(0, hosts.front().find('.'));
  hosts.push_back(short_name);
  std::vector<std::string> homes;
  for (const char* variable : {"HOME", "USERPROFILE"}) {
    if (const auto found = variables.find(variable); found != variables.end()) {
      homes.push_back(found->second);
    }
  }
  return {std::move(users), std::move(hosts), std::move(homes)};
}

std::string redaction::of(std::string_view text) const {
  std::string out(text);
  for (const std::string& home : homes_) {
    for (auto at = out.find(home); at != std::string::npos; at = out.find(home, at)) {
      out.replace(at, home.size(), "~");
      ++at;
    }
  }
  out = without_homes(out);
  for (const std::string& name : users_) {
    out = replaced(std::move(out), name, "<user>");
  }
  for (const std::string& name : hosts_) {
    out = replaced(std::move(out), name, "<host>");
  }
  return out;
}

}  // namespace assay
