// SPDX-License-Identifier: Apache-2.0
#include "diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <locale>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/common/glob.hpp"

namespace assay {

namespace {

using nlohmann::json;

constexpr std::size_t most_evidence = 6;
constexpr std::size_t longest_evidence = 400;  // a line's characters

enum class holds { yes, no, unknown };

holds any_matches(const std::vector<std::string>& wanted, const std::string& fact) {
  if (fact.empty()) {
    return holds::unknown;
  }
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const std::string& glob) { return glob_match(glob, fact); })
             ? holds::yes
             : holds::no;
}

holds any_of_several(const std::vector<std::string>& wanted,
                     const std::vector<std::string>& facts) {
  const bool one = std::any_of(facts.begin(), facts.end(), [&](const std::string& fact) {
    return any_matches(wanted, fact) == holds::yes;
  });
  return one ? holds::yes : holds::no;
}

/// The conditions of a rule that are not patterns: all of them, and how many could be examined.
struct verdict_on_conditions {
  bool refused = false;
  std::size_t known = 0;
  std::size_t unknown = 0;

  void add(bool stated, holds answer) {
    if (!stated) {
      return;
    }
    refused = refused || answer == holds::no;
    ++(answer == holds::unknown ? unknown : known);
  }
};

verdict_on_conditions examine(const rule& r, const failure_facts& f) {
  verdict_on_conditions v;
  const auto text = [&](const std::vector<std::string>& wanted, const std::string& fact) {
    v.add(!wanted.empty(), any_matches(wanted, fact));
  };
  text(r.status, f.status);
  text(r.end, f.end);
  text(r.phase, f.phase);
  text(r.dtype, f.dtype);
  text(r.architecture, f.architecture);
  text(r.platform, f.platform);
  text(r.build, f.torch_build);
  v.add(!r.operators.empty(),
        f.operators.empty() ? holds::unknown : any_of_several(r.operators, f.operators));
  v.add(!r.environment.empty(),
        f.environment ? any_of_several(r.environment, *f.environment) : holds::unknown);
  v.add(!r.torch.empty(), f.torch_version.empty()                ? holds::unknown
                          : version_in(f.torch_version, r.torch) ? holds::yes
                                                                 : holds::no);
  return v;
}

using spot = std::pair<std::size_t, const text_scan::occurrence*>;  // which pattern, where

bool is_slight(const spot& one) { return one.second->counts == weight::slight; }

/// The first occurrence that counts in full, else the first.
spot best_of(std::size_t pattern, const text_scan& scan) {
  const auto& all = scan.of(pattern);
  const auto full = std::find_if(all.begin(), all.end(), [](const text_scan::occurrence& one) {
    return one.counts == weight::full;
  });
  return {pattern, full == all.end() ? &all.front() : &*full};
}

/// One occurrence of each wanted pattern, all within `within` lines, the earliest; empty: none.
/// Each counts for `least` or more.
std::vector<spot> together(const std::vector<std::size_t>& wanted, const text_scan& scan,
                           std::size_t within, weight least = weight::full) {
  std::vector<spot> spots;
  for (const std::size_t pattern : wanted) {
    for (const text_scan::occurrence& one : scan.of(pattern)) {
      if (one.counts >= least) {
        spots.emplace_back(pattern, &one);
      }
    }
  }
  std::stable_sort(spots.begin(), spots.end(),
                   [](const spot& a, const spot& b) { return a.second->line < b.second->line; });
  for (std::size_t begin = 0; begin < spots.size(); ++begin) {
    std::map<std::size_t, const text_scan::occurrence*> window;
    for (std::size_t i = begin;
         i < spots.size() && spots[i].second->line - spots[begin].second->line <= within; ++i) {
      window.emplace(spots[i].first, spots[i].second);
    }
    if (window.size() == std::set<std::size_t>(wanted.begin(), wanted.end()).size()) {
      return {window.begin(), window.end()};
    }
  }
  return least == weight::full ? together(wanted, scan, within, weight::slight)
                               : std::vector<spot>();
}

/// What goes first has the smaller key.
auto order_of(const found_diagnosis& d) {
  return std::tuple(d.withdrawn, !d.consequence_of.empty(), d.entry->severity == severity::notice,
                    -static_cast<int>(d.confidence), -static_cast<int>(d.entry->severity),
                    -static_cast<long>(d.matched_length), d.first_line);
}

/// Rules and classifiers shorten a line in ways of their own, and one may put the error's type in
/// front.
bool same_line(std::string_view a, std::string_view b) {
  constexpr std::string_view cut = "...";
  constexpr std::size_t shortest = 16;  // of what tells one line from another
  constexpr std::size_t long_line = 200;
  for (std::string_view* line : {&a, &b}) {
    line->remove_suffix(line->ends_with(cut) ? cut.size() : 0);
  }
  if (a.size() < b.size()) {
    std::swap(a, b);
  }
  const std::string_view part = b.size() < long_line ? b : b.substr(b.size() / 4, b.size() / 2);
  return a == b || (part.size() >= shortest && a.find(part) != std::string_view::npos);
}

void merge_into(found_diagnosis& kept, const found_diagnosis& other) {
  for (const std::string& line : other.evidence) {
    if (kept.evidence.size() < most_evidence &&
        std::none_of(kept.evidence.begin(), kept.evidence.end(),
                     [&](const std::string& have) { return same_line(have, line); })) {
      kept.evidence.push_back(line);
    }
  }
}

/// Whether the code `of` is what `d` follows from, however far back.
bool follows_from(const std::vector<found_diagnosis>& found, const found_diagnosis& d,
                  const std::string& of) {
  std::set<std::string> seen;
  for (const found_diagnosis* at = &d; !at->consequence_of.empty();) {
    if (at->consequence_of == of) {
      return true;
    }
    const auto next = std::find_if(found.begin(), found.end(), [&](const found_diagnosis& one) {
      return one.entry->code == at->consequence_of;
    });
    if (next == found.end() || !seen.insert(at->consequence_of).second) {
      break;
    }
    at = &*next;
  }
  return false;
}

void mark_consequences(std::vector<found_diagnosis>& found) {
  for (found_diagnosis& d : found) {
    for (const found_diagnosis& other : found) {
      const auto& codes = other.entry->explains;
      // A guess explains nothing that is better founded than itself; and what one classifier read
      // from two lines are two failures.
      const bool apart = d.by == other.by && d.by.starts_with("classifier ");
      if (&other != &d && !apart && !other.withdrawn && other.confidence >= d.confidence &&
          std::find(codes.begin(), codes.end(), d.entry->code) != codes.end() &&
          !follows_from(found, other, d.entry->code)) {
        d.consequence_of = other.entry->code;
      }
    }
  }
}

/// "timeout, in phase first_call: no result within 6 s"
std::string ending_of(const failure_facts& facts) {
  std::string text = facts.status;
  text += facts.end.empty() ? "" : " " + facts.end;
  text += facts.phase.empty() ? "" : ", in phase " + facts.phase;
  const std::string line = facts.error_text.substr(0, facts.error_text.find('\n'));
  return line.empty() ? text : text + ": " + line.substr(0, longest_evidence);
}

std::string text_or(const json& object, const char* member, const char* otherwise = "") {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

}  // namespace

void failure_facts::feed(text_scan& scan) const {
  const std::string named = error_type.empty() ? error_text : error_type + ": " + error_text;
  for (const std::string* text : {&named, &trace, &stderr_text, &warnings, &stdout_text, &chain}) {
    scan.feed(*text);
    scan.end_line();
  }
}

std::optional<found_diagnosis> diagnoser::apply(const rule& r, const failure_facts& facts,
                                                const text_scan& scan) const {
  const auto occurs = [&](std::size_t pattern) { return !scan.of(pattern).empty(); };
  if (!std::all_of(r.all.begin(), r.all.end(), occurs) ||
      std::any_of(r.none.begin(), r.none.end(), occurs) ||
      (!r.any.empty() && std::none_of(r.any.begin(), r.any.end(), occurs))) {
    return std::nullopt;
  }
  const verdict_on_conditions conditions = examine(r, facts);
  const bool by_text = !r.all.empty() || !r.any.empty();
  if (conditions.refused || (!by_text && conditions.unknown > 0)) {
    return std::nullopt;
  }

  std::vector<spot> spots;
  std::size_t alternatives = 0;
  bool slight = false;  // it rests on lines that count for little
  if (r.within_lines) {
    slight = true;
    const auto candidates = r.any.empty() ? std::vector<std::size_t>{0} : r.any;
    for (const std::size_t alternative : candidates) {
      std::vector<std::size_t> wanted = r.all;
      if (!r.any.empty()) {
        wanted.push_back(alternative);
      }
      const auto near = together(wanted, scan, *r.within_lines);
      alternatives = std::max(alternatives, near.empty() || r.any.empty()
                                                ? std::size_t{0}
                                                : known_.patterns[alternative].literal_length);
      slight = slight && (near.empty() || std::any_of(near.begin(), near.end(), is_slight));
      spots.insert(spots.end(), near.begin(), near.end());
    }
    if (spots.empty()) {
      return std::nullopt;
    }
  } else {
    for (const std::size_t pattern : r.all) {
      spots.push_back(best_of(pattern, scan));
    }
    slight = std::any_of(spots.begin(), spots.end(), is_slight);
    const auto of_any = static_cast<std::ptrdiff_t>(spots.size());
    for (const std::size_t pattern : r.any) {
      if (occurs(pattern)) {
        spots.push_back(best_of(pattern, scan));
        alternatives = std::max(alternatives, known_.patterns[pattern].literal_length);
      }
    }
    slight =
        slight || (!r.any.empty() && std::all_of(spots.begin() + of_any, spots.end(), is_slight));
  }
  std::stable_sort(spots.begin(), spots.end(),
                   [](const spot& a, const spot& b) { return a.second->line < b.second->line; });

  found_diagnosis d;
  d.entry = known_.find(r.code);
  d.confidence = conditions.unknown > 0 || slight ? confidence::possible : r.confidence;
  d.guess = r.needs_facts && conditions.unknown > 0;
  d.by = "rule " + r.name;
  d.probe = r.probe;
  d.confirmed_by = r.confirmed_by;
  d.refuted_by = r.refuted_by;
  d.matched_length = alternatives + conditions.known;
  for (const std::size_t pattern : r.all) {
    d.matched_length += known_.patterns[pattern].literal_length;
  }
  std::size_t last_line = 0;
  for (const auto& [pattern, where] : spots) {
    if (where->line != last_line && d.evidence.size() < most_evidence) {
      d.evidence.push_back(where->text);
    }
    last_line = where->line;
    d.first_line = d.first_line == 0 ? where->line : d.first_line;
  }
  if (!by_text) {
    d.evidence.push_back(ending_of(facts));
  }
  return d;
}

std::vector<found_diagnosis> diagnoser::by_rules(const failure_facts& facts,
                                                 const text_scan& scan) const {
  std::vector<found_diagnosis> found;
  for (const rule& r : known_.rules) {
    if (auto d = apply(r, facts, scan); d && d->entry != nullptr) {
      found.push_back(std::move(*d));
    }
  }
  return found;
}

std::optional<found_diagnosis> diagnoser::by_classifier(const json& answer,
                                                        const std::string& classifier,
                                                        std::string& why) const {
  const std::string code = text_or(answer, "code");
  found_diagnosis d;
  d.entry = known_.find(code);
  if (d.entry == nullptr) {
    why = fmt::format("classifier {} answered '{}', which no rule file has as a code", classifier,
                      code);
    return std::nullopt;
  }
  d.by = "classifier " + classifier;
  d.cause = text_or(answer, "cause");
  d.advice = text_or(answer, "advice");
  d.confidence =
      text_or(answer, "confidence") == "likely" ? confidence::likely : confidence::possible;
  for (const json& given : answer.value("evidence", json::array())) {
    const std::string text = given.get<std::string>();
    const std::string line = text.substr(0, std::min(text.find('\n'), longest_evidence));
    if (!line.empty() && d.evidence.size() < most_evidence) {
      d.evidence.push_back(line);
      d.matched_length += line.size();
    }
  }
  const auto counts_little = [](const std::string& line) {
    return weight_of(boost::algorithm::to_lower_copy(line, std::locale::classic())) != weight::full;
  };
  if (!d.evidence.empty() && std::all_of(d.evidence.begin(), d.evidence.end(), counts_little)) {
    d.confidence = confidence::possible;
  }
  return d;
}

void take_advice(found_diagnosis& d, const json& values) {
  for (const auto& [name, instead] : {std::pair("advice_instead", true), {"advice", false}}) {
    const std::string of_code = fmt::format("{}.{}", name, d.entry->code);
    std::string text = text_or(values, of_code.c_str());
    text = text.empty() ? text_or(values, name) : text;
    if (!text.empty() && d.advice.find(text) == std::string::npos) {
      d.advice += (d.advice.empty() ? "" : "\n") + text;
      d.advice_instead = d.advice_instead || instead;
    }
  }
}

std::string fact_for(const probe_result& p, const std::string& code) {
  return text_or(p.values, ("fact." + code).c_str(), p.fact.c_str());
}

std::vector<std::string> evidence_for(const probe_result& p, const std::string& code) {
  const std::string own = text_or(p.values, ("evidence." + code).c_str());
  if (own.empty()) {
    return p.evidence;
  }
  std::vector<std::string> lines;
  for (std::size_t from = 0; from <= own.size();) {
    const std::size_t end = std::min(own.find('\n', from), own.size());
    lines.push_back(own.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

std::vector<found_diagnosis> diagnoser::settle(std::vector<found_diagnosis> found,
                                               const std::map<std::string, probe_result>& probes) {
  for (found_diagnosis& d : found) {
    const auto asked = probes.find(d.probe);
    if (d.probe.empty() || asked == probes.end()) {
      continue;
    }
    const probe_result& p = asked->second;
    d.probes.push_back(fmt::format("{} {}: {}", p.id, p.state, fact_for(p, d.entry->code)));
    if (!d.confirmed_by.empty() && p.state == d.confirmed_by) {
      d.confidence = confidence::certain;
      take_advice(d, p.values);
    }
    d.withdrawn = !d.refuted_by.empty() && p.state == d.refuted_by;
  }
  std::erase_if(found, [](const found_diagnosis& d) {
    return d.guess && !d.withdrawn && d.confidence != confidence::certain;
  });
  const auto sort = [&] { std::stable_sort(found.begin(), found.end(), goes_before); };
  sort();
  std::vector<found_diagnosis> kept;
  for (found_diagnosis& d : found) {
    const auto same = std::find_if(kept.begin(), kept.end(),
                                   [&](const auto& other) { return other.entry == d.entry; });
    if (same == kept.end()) {
      kept.push_back(std::move(d));
    } else if (!d.withdrawn) {
      merge_into(*same, d);
    }
  }
  found = std::move(kept);
  mark_consequences(found);
  sort();
  return found;
}

bool diagnoser::goes_before(const found_diagnosis& a, const found_diagnosis& b) {
  return order_of(a) < order_of(b);
}

std::set<std::string> wanted_probes(const std::vector<found_diagnosis>& found) {
  std::set<std::string> ids;
  for (const found_diagnosis& d : found) {
    if (!d.probe.empty()) {
      ids.insert(d.probe);
    }
  }
  return ids;
}

json to_json(const advice& a) {
  return {{"any", a.any}, {"linux", a.on_linux}, {"wsl", a.on_wsl}, {"windows", a.on_windows}};
}

json to_json(const probe_result& p) {
  return {{"id", p.id},
          {"state", p.state},
          {"fact", p.fact},
          {"evidence", p.evidence},
          {"findings", p.findings},
          {"values", p.values},
          {"elapsed_ms", p.elapsed_ms}};
}

json to_json(const found_diagnosis& d) {
  const catalogue_entry& e = *d.entry;
  return {{"code", e.code},
          {"class", e.klass},
          {"title", e.title},
          {"category", e.category},
          {"severity", name_of(e.severity)},
          {"confidence", name_of(d.confidence)},
          {"cause", d.cause.empty() ? e.cause : d.cause},
          {"advice", to_json(d.advice_instead ? advice() : e.advice)},
          {"advice_here", d.advice.empty() ? json() : json(d.advice)},
          {"evidence", d.evidence},
          {"probes", d.probes},
          {"by", d.by},
          {"withdrawn", d.withdrawn},
          {"consequence_of", d.consequence_of.empty() ? json() : json(d.consequence_of)},
          {"references", e.references}};
}

}  // namespace assay
