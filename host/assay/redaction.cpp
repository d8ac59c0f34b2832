// SPDX-License-Identifier: Apache-2.0
#include "redaction.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/ip/host_name.hpp>
#include <boost/system/error_code.hpp>
#include <cctype>
#include <nlohmann/json.hpp>

#include "host/platform/machine.hpp"
#include "host/platform/platform.hpp"
#include "serial_numbers.hpp"

namespace assay {

using nlohmann::json;

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

// A user's files are called alice_build and alice-2 as well.
bool in_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// The words of a path of names: what a folder's name may be made of.
bool in_a_name(char c) {
  return c != '/' && c != '\\' && c != ' ' && c != ':' && c != '"' && c != '\'' && c != '\n' &&
         c != ',' && c != ')';
}

/// "-I", "-L": a compiler's option, whose folder follows without a blank.
bool ends_with_flag(std::string_view text) {
  const std::size_t size = text.size();
  return size >= 2 && text[size - 2] == '-' && in_a_word(text[size - 1]) &&
         (size == 2 || !is_word(text[size - 3]));
}

std::string without_homes(std::string_view text) {
  static constexpr std::array<std::string_view, 4> parents{"/home/", "/Users/", ":\\Users\\",
                                                           ":/Users/"};
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = i == 0 || !is_word(text[i - 1]) || ends_with_flag(text.substr(0, i));
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
        (at == 0 || !in_a_word(text[at - 1])) && (end == text.size() || !in_a_word(text[end]));
    if (whole) {
      text.replace(at, word.size(), by);
    }
    at += whole ? by.size() : word.size();
  }
  return text;
}

// A name such as "a", "root" or "dev" is a word of its own in every log and path, and tells nobody.
bool tells(const std::string& name) {
  static constexpr std::array<std::string_view, 30> common{
      "root", "user", "dev", "test", "build", "home",  "admin", "usr",   "var",    "opt",
      "tmp",  "lib",  "bin", "etc",  "sys",   "proc",  "run",   "mnt",   "srv",    "gpu",
      "cpu",  "cuda", "hip", "rocm", "amd",   "torch", "aten",  "assay", "python", "localhost"};
  constexpr std::size_t shortest = 3;
  constexpr std::size_t shortest_number = 6;
  const bool only_digits = name.find_first_not_of("0123456789.") == std::string::npos;
  return name.size() >= (only_digits ? shortest_number : shortest) &&
         std::find(common.begin(), common.end(), name) == common.end();
}

/// Members whose texts are names that assay or a plugin gave: what reads a file goes by them.
bool is_identifier(std::string_view member) {
  static constexpr std::array<std::string_view, 39> names{
      "record",       "id",           "ids",
      "check",        "category",     "dtype",
      "device",       "device_asked", "plugin",
      "status",       "state",        "phase",
      "profile",      "verdict",      "path",
      "bound",        "ceiling",      "op",
      "code",         "class",        "severity",
      "confidence",   "sha256",       "accelerator",
      "abi",          "started",      "measured_at",
      "expires",      "fails",        "outcome",
      "covers",       "when",         "architecture",
      "build",        "git_hash",     "basis",
      "device_basis", "stop_reason",  "watched_variables"};
  return std::find(names.begin(), names.end(), member) != names.end();
}

// `name` of a check is one, that of a device is not; what holds further members never is.
bool is_identifier(const json& owner, const std::string& member, const json& value) {
  const bool plain =
      !value.is_object() && !(value.is_array() && !value.empty() && !value.front().is_string());
  return plain && (is_identifier(member) || (member == "name" && owner.contains("dtype")));
}

}  // namespace

redaction::redaction(std::vector<std::string> users, std::vector<std::string> hosts,
                     std::vector<std::string> homes, std::vector<std::string> serials)
    : users_(std::move(users)),
      hosts_(std::move(hosts)),
      homes_(std::move(homes)),
      serials_(std::move(serials)) {
  // /root, which is a part of other paths too, is left to without_homes().
  std::erase_if(homes_, [](const std::string& home) { return home.size() < 4 || home == "/root"; });
  std::erase_if(users_, [](const std::string& name) { return !tells(name); });
  std::erase_if(hosts_, [](const std::string& name) { return !tells(name); });
  // The longer ones first, so that none is cut by a shorter one.
  const auto longer = [](const std::string& a, const std::string& b) {
    return a.size() > b.size();
  };
  for (auto* names : {&users_, &hosts_, &homes_, &serials_}) {
    std::sort(names->begin(), names->end(), longer);
  }
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
  for (const char* variable : {"HOSTNAME", "HOST", "COMPUTERNAME"}) {
    if (const auto found = variables.find(variable); found != variables.end()) {
      hosts.push_back(found->second);
    }
  }
  for (std::size_t i = 0, count = hosts.size(); i < count; ++i) {
    hosts.push_back(hosts[i].substr(0, hosts[i].find('.')));
  }
  const platform::account account = platform::this_account();
  users.push_back(account.name);
  std::vector<std::string> homes{account.home};
  for (const char* variable : {"HOME", "USERPROFILE"}) {
    if (const auto found = variables.find(variable); found != variables.end()) {
      homes.push_back(found->second);
    }
  }
  return {std::move(users), std::move(hosts), std::move(homes), platform::serial_numbers()};
}

std::string redaction::of(std::string_view text) const {
  std::string out(text);
  for (const std::string& home : homes_) {
    for (auto at = out.find(home); at != std::string::npos; at = out.find(home, at + 1)) {
      if (at + home.size() == out.size() || !is_word(out[at + home.size()])) {
        out.replace(at, home.size(), "~");
      }
    }
  }
  out = without_homes(out);
  for (const std::string& name : users_) {
    out = replaced(std::move(out), name, "<user>");
  }
  for (const std::string& name : hosts_) {
    out = replaced(std::move(out), name, "<host>");
  }
  for (const std::string& serial : serials_) {
    out = replaced(std::move(out), serial, "<serial>");
  }
  return without_serials(out);
}

json redaction::of_record(const json& record) const {
  if (record.is_string()) {
    return of(record.get_ref<const std::string&>());
  }
  if (record.is_array()) {
    json list = json::array();
    for (const json& item : record) {
      list.push_back(of_record(item));
    }
    return list;
  }
  if (!record.is_object()) {
    return record;
  }
  json made = json::object();
  for (const auto& [member, value] : record.items()) {
    made[member] = is_identifier(record, member, value) ? value : of_record(value);
  }
  return made;
}

}  // namespace assay
