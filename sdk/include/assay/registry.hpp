// SPDX-License-Identifier: Apache-2.0
//
// What a plugin registers, kept aside until all of it is known.
#pragma once

#include <assay/abi.h>
#include <assay/diagnostics.hpp>
#include <assay/plan.hpp>

#include <concepts>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace assay {

/// Why a registration was turned down; what() is one line for the user.
class registration_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {
inline void must_be_accepted(const char* refusal) {
  if (refusal != nullptr) {
    throw registration_error(refusal);
  }
}
}  // namespace detail

/// What must hold for a check to be run; see assay_requirements. Empty members ask for nothing.
struct requirements {
  std::string accelerator = {};    // "rocm", "cuda,cpu"
  std::string architectures = {};  // globs: "gfx9*,gfx1100"
  std::string torch_at_least = {};
  std::string torch_below = {};
  std::uint64_t free_memory_bytes = 0;
  bool dtype_arithmetic = false;  // the device can add in the check's dtype

  /// Points into this object.
  [[nodiscard]] assay_requirements c_form() const {
    const auto text = [](const std::string& s) { return s.empty() ? nullptr : s.c_str(); };
    return {sizeof(assay_requirements), dtype_arithmetic ? ASSAY_REQUIRES_DTYPE_ARITHMETIC : 0U,
            text(accelerator),          text(architectures),
            text(torch_at_least),       text(torch_below),
            free_memory_bytes};
  }
};

/// How a path is recognised; see assay_path.
struct path_pattern {
  assay_path_source source;
  std::string glob;
};
inline path_pattern runs_operator(std::string glob) {
  return {ASSAY_PATH_OPERATOR, std::move(glob)};
}
inline path_pattern runs_kernel(std::string glob) { return {ASSAY_PATH_KERNEL, std::move(glob)}; }

inline constexpr assay_path_grade fast = ASSAY_PATH_FAST;
inline constexpr assay_path_grade acceptable = ASSAY_PATH_ACCEPTABLE;
inline constexpr assay_path_grade slow = ASSAY_PATH_SLOW;

/// One check under construction. Every setter returns the check, so that they can be chained.
class check {
 public:
  check(std::string name, std::vector<input> inputs, std::vector<operator_call> plan)
      : name_(std::move(name)), inputs_(std::move(inputs)), plan_(std::move(plan)) {}

  /// The dtypes under which it can be run (its `of_check` inputs take them); the first is the
  /// default. Without this call: float32, float16, bfloat16, float64.
  check& dtypes(std::vector<dtype> list) {
    dtypes_ = std::move(list);
    return *this;
  }

  /// What one call must read and write at least: `elements` of the check's dtype and `bytes` of
  /// others. Without this call: its inputs and outputs, once.
  check& moves(double elements, double bytes = 0.0) {
    cost_.elements = elements;
    cost_.bytes = bytes;
    return *this;
  }

  /// Floating-point operations of one call; `matrix_flops` where matrix units can do them.
  check& flops(double count) {
    cost_.matrix = 0;
    cost_.flops = count;
    return *this;
  }
  check& matrix_flops(double count) {
    cost_.matrix = 1;
    cost_.flops = count;
    return *this;
  }

  /// How near the output must be to the reference; see assay_accuracy for the bound.
  check& exact() {
    accuracy_.flags = ASSAY_ACCURACY_EXACT;
    return *this;
  }
  check& rounds(double roundings, double terms = 1.0) {
    accuracy_.flags = 0;
    accuracy_.roundings = roundings;
    accuracy_.terms = terms;
    return *this;
  }
  /// As rounds(), for matrix products and convolutions, which TF32 may serve.
  check& contracts(double roundings, double terms) {
    rounds(roundings, terms);
    accuracy_.flags = ASSAY_ACCURACY_CONTRACTION;
    return *this;
  }
  /// The output is not compared; see ASSAY_ACCURACY_INCOMPARABLE for the two reasons to say so.
  check& incomparable() {
    accuracy_.flags = ASSAY_ACCURACY_INCOMPARABLE;
    return *this;
  }
  /// Integer outputs are indices into input `position` along `dimension`; where values are equal,
  /// either index will do.
  check& picks(std::int32_t position, std::int32_t dimension) {
    accuracy_.picks_input = position;
    accuracy_.picks_dimension = dimension;
    return *this;
  }

  /// A way in which LibTorch may serve the check; the first that matches names the path.
  check& path(std::string name, assay_path_grade grade, path_pattern seen) {
    paths_.push_back({std::move(name), grade, std::move(seen)});
    return *this;
  }

  /// Another plan over the same inputs, which gives the right output on the CPU in float64.
  check& reference(std::vector<operator_call> plan) {
    reference_ = std::move(plan);
    return *this;
  }

  /// What must hold for this check to be run; where it does not, it is skipped with the reason.
  check& needs(requirements r) {
    needs_ = std::make_shared<const requirements>(std::move(r));
    return *this;
  }

  /// One line for people: what it stands for.
  check& summary(std::string line) {
    summary_ = std::move(line);
    return *this;
  }

  /// Where it is written, "pack.assay.toml:12".
  check& source(std::string place) {
    source_ = std::move(place);
    return *this;
  }

  /// How often the model that it was recorded from makes this call.
  check& weight(std::uint64_t calls) {
    weight_ = calls;
    return *this;
  }

  /// The same check at sizes that fill a device, with its own cost and accuracy; its name, dtypes
  /// and paths are those of this one.
  check& large(const check& bigger) {
    large_ = std::make_shared<check>(bigger);
    return *this;
  }

 private:
  friend class registry;

  struct known_path {
    std::string name;
    assay_path_grade grade;
    path_pattern seen;
  };

  /// The C form of a check, with all that it points to.
  struct c_storage {
    std::vector<assay_input> inputs;
    std::vector<const assay_input*> input_list;
    std::vector<std::vector<assay_value>> items;
    std::deque<std::vector<assay_value>> arguments;
    std::deque<assay_call> calls;
    std::vector<const assay_call*> plan, reference;
    std::vector<std::int32_t> dtypes;
    std::deque<assay_path> paths;
    std::vector<const assay_path*> path_list;
    std::unique_ptr<c_storage> large;
    assay_requirements needs{};
    assay_check check{};
  };

  static void store(const std::vector<operator_call>& from, c_storage& to,
                    std::vector<const assay_call*>& list) {
    for (const operator_call& call : from) {
      auto& arguments = to.arguments.emplace_back();
      for (const value& v : call.arguments) {
        arguments.push_back(v.c_form(to.items));
      }
      assay_call c{};
      c.struct_size = sizeof c;
      c.argument_count = static_cast<std::uint32_t>(arguments.size());
      c.op = call.op.c_str();
      c.arguments = arguments.data();
      c.source = call.source.empty() ? nullptr : call.source.c_str();
      list.push_back(&to.calls.emplace_back(c));
    }
  }

  void fill(c_storage& to, const std::string& category) const {
    to.inputs.reserve(inputs_.size());
    for (const input& from : inputs_) {
      assay_input c{};
      c.struct_size = sizeof c;
      c.dtype = static_cast<std::int32_t>(from.type);
      c.fill = from.fill;
      c.dimensions = static_cast<std::uint32_t>(from.sizes.size());
      c.sizes = from.sizes.data();
      c.low = from.low;
      c.high = from.high;
      if (!from.strides.empty() && from.strides.size() != from.sizes.size()) {
        throw registration_error("check '" + category + "/" + name_ + "': an input has " +
                                 std::to_string(from.sizes.size()) + " sizes and " +
                                 std::to_string(from.strides.size()) + " strides");
      }
      c.strides = from.strides.empty() ? nullptr : from.strides.data();
      to.inputs.push_back(c);
      to.input_list.push_back(&to.inputs.back());
    }
    store(plan_, to, to.plan);
    store(reference_, to, to.reference);
    for (const dtype type : dtypes_) {
      to.dtypes.push_back(static_cast<std::int32_t>(type));
    }
    for (const known_path& from : paths_) {
      to.path_list.push_back(
          &to.paths.emplace_back(assay_path{sizeof(assay_path), from.grade, from.seen.source,
                                            from.name.c_str(), from.seen.glob.c_str()}));
    }
    assay_check& c = to.check;
    c.struct_size = sizeof c;
    c.category = category.c_str();
    c.name = name_.c_str();
    c.inputs = to.input_list.data();
    c.input_count = static_cast<std::uint32_t>(to.input_list.size());
    c.calls = to.plan.data();
    c.call_count = static_cast<std::uint32_t>(to.plan.size());
    c.dtypes = to.dtypes.data();
    c.dtype_count = static_cast<std::uint32_t>(to.dtypes.size());
    c.cost = states_cost() ? &cost_ : nullptr;
    c.accuracy = &accuracy_;
    c.paths = to.path_list.data();
    c.path_count = static_cast<std::uint32_t>(to.path_list.size());
    c.reference_calls = to.reference.data();
    c.reference_call_count = static_cast<std::uint32_t>(to.reference.size());
    if (needs_) {
      to.needs = needs_->c_form();
      c.needs = &to.needs;
    }
    c.summary = summary_.empty() ? nullptr : summary_.c_str();
    c.source = source_.empty() ? nullptr : source_.c_str();
    c.weight = weight_;
    if (large_) {
      to.large = std::make_unique<c_storage>();
      large_->fill(*to.large, category);
      c.large = &to.large->check;
    }
  }

  [[nodiscard]] bool states_cost() const {
    return cost_.elements > 0.0 || cost_.bytes > 0.0 || cost_.flops > 0.0;
  }

  void commit(assay_registrar* registrar, const std::string& category) const {
    c_storage storage;
    fill(storage, category);
    detail::must_be_accepted(registrar->add_check(registrar, &storage.check));
  }

  std::string name_;
  std::vector<input> inputs_;
  std::vector<operator_call> plan_;
  std::vector<operator_call> reference_;
  std::vector<dtype> dtypes_{dtype::float32, dtype::float16, dtype::bfloat16, dtype::float64};
  assay_cost cost_{sizeof(assay_cost), 0, 0.0, 0.0, 0.0};
  assay_accuracy accuracy_{sizeof(assay_accuracy), 0, 16.0, 1.0, -1, 0};
  std::vector<known_path> paths_;
  std::shared_ptr<const check> large_;
  std::shared_ptr<const requirements> needs_;
  std::string summary_;
  std::string source_;
  std::uint64_t weight_ = 0;
};

/// One category: a name under which checks stand together and can be switched off together.
class category {
 public:
  category(std::string name, std::string summary)
      : name_(std::move(name)), summary_(std::move(summary)) {}

  /// Adds a check: its name, its inputs, and the calls of its plan in order. The reference stays
  /// valid until the plugin's registration ends.
  template <typename... Calls>
  assay::check& check(std::string name, std::vector<input> inputs, operator_call first,
                      Calls... more) {
    std::vector<operator_call> plan{std::move(first), std::move(more)...};
    return checks_.emplace_back(std::move(name), std::move(inputs), std::move(plan));
  }

  /// The same for a check that was made before, by a function of its sizes for instance.
  assay::check& add(assay::check made) { return checks_.emplace_back(std::move(made)); }

 private:
  friend class registry;

  std::string name_;
  std::string summary_;
  std::deque<assay::check> checks_;
};

/// What one plugin brings. Nothing is registered before the body of ASSAY_PLUGIN has returned; if
/// it throws, or if one registration is turned down, the plugin is refused as a whole.
class registry {
 public:
  /// `host` is what options are declared to; without one they have their defaults.
  explicit registry(assay_registrar* host = nullptr) : host_(host) {}

  /// Adds a category; asking again for the same name gives the same category.
  assay::category& category(const std::string& name, const std::string& summary) {
    for (assay::category& known : categories_) {
      if (known.name_ == name) {
        return known;
      }
    }
    return categories_.emplace_back(name, summary);
  }

  /// Names a TORCH_LIBRARY extension whose operators the checks call; see
  /// assay_registrar.add_operator_library for when and from where it is opened.
  void operator_library(std::string path) { libraries_.push_back(std::move(path)); }

  /// What all checks of this plugin require, beyond what each requires itself.
  void needs(requirements r) { needs_.push_back(std::move(r)); }

  /// Declares an option of this plugin (--set PLUGIN.NAME=VALUE) and gives the value in force: the
  /// user's, or `by_default`. Where `low` < `high`, values lie between them. Throws
  /// registration_error when the user's value is none; let it pass, it says so.
  double option(const std::string& name, std::floating_point auto by_default,
                const std::string& summary, double low = 0.0, double high = 0.0) {
    assay_option o = option_form(name, ASSAY_OPTION_REAL, summary, low, high);
    o.default_real = by_default;
    return in_force(o).real;
  }
  template <std::integral Int>
  requires(!std::same_as<Int, bool>) std::int64_t
      option(const std::string& name, Int by_default, const std::string& summary, double low = 0.0,
             double high = 0.0) {
    assay_option o = option_form(name, ASSAY_OPTION_INTEGER, summary, low, high);
    o.default_integer = by_default;
    return in_force(o).integer;
  }
  bool option(const std::string& name, std::same_as<bool> auto by_default,
              const std::string& summary) {
    assay_option o = option_form(name, ASSAY_OPTION_BOOLEAN, summary, 0.0, 0.0);
    o.default_integer = by_default ? 1 : 0;
    return in_force(o).integer != 0;
  }
  /// `choices`: the only values there are, separated by commas; empty: any text.
  std::string option(const std::string& name, const char* by_default, const std::string& summary,
                     const std::string& choices = "") {
    assay_option o = option_form(name, ASSAY_OPTION_TEXT, summary, 0.0, 0.0);
    o.choices = choices.empty() ? nullptr : choices.c_str();
    o.default_text = by_default;
    return in_force(o).text;
  }

  /// Adds a probe or a classifier. It lives until the process ends.
  void add(std::unique_ptr<assay::probe> p) { probes_.push_back(std::move(p)); }
  void add(std::unique_ptr<assay::classifier> c) { classifiers_.push_back(std::move(c)); }

  /// Hands everything to the host. Called once, by ASSAY_PLUGIN. Throws registration_error.
  void commit(assay_registrar* registrar);

 private:
  static assay_option option_form(const std::string& name, assay_option_kind kind,
                                  const std::string& summary, double low, double high) {
    assay_option o{};
    o.struct_size = sizeof o;
    o.kind = kind;
    o.name = name.c_str();
    o.summary = summary.c_str();
    o.low = low;
    o.high = high;
    return o;
  }

  [[nodiscard]] assay_option_value in_force(const assay_option& o) const {
    assay_option_value value{sizeof value, o.default_text, o.default_integer, o.default_real};
    if (host_ != nullptr) {
      detail::must_be_accepted(host_->add_option(host_, &o, &value));
    }
    return value;
  }

  assay_registrar* host_;
  std::deque<assay::category> categories_;
  std::vector<requirements> needs_;
  std::vector<std::string> libraries_;
  std::vector<std::unique_ptr<assay::probe>> probes_;
  std::vector<std::unique_ptr<assay::classifier>> classifiers_;
};

namespace detail {

inline void put(const assay_sink* sink, const char* name, const std::string& text) {
  sink->put(sink, name, text.c_str());
}

inline std::string_view view(const char* text) { return text == nullptr ? "" : text; }

inline int run_probe(void* self, const assay_site* from, const assay_sink* answer) noexcept {
  try {
    probe_site site;
    if (from != nullptr) {
      site.root = from->root == nullptr ? "/" : from->root;
      site.torch_dir = view(from->torch_dir);
      site.architecture = view(from->architecture);
    }
    const probe_answer a = static_cast<probe*>(self)->look(site);
    using enum probe_state;
    answer->put(answer, "state", a.state == yes ? "yes" : a.state == no ? "no" : "unknown");
    put(answer, "fact", a.fact);
    for (const std::string& line : a.evidence) {
      put(answer, "evidence", line);
    }
    for (const std::string& code : a.findings) {
      put(answer, "finding", code);
    }
    for (const auto& [name, text] : a.values) {
      answer->put(answer, name.c_str(), text.c_str());
    }
    return 0;
  } catch (const std::exception& e) {
    answer->put(answer, "reason", e.what());
  } catch (...) {
    answer->put(answer, "reason", "the probe threw something that is not a std::exception");
  }
  return 1;
}

/// The place to look of a host of minor 1: this machine.
inline int run_probe_here(void* self, const assay_sink* answer) noexcept {
  return run_probe(self, nullptr, answer);
}

inline failure view_of(const assay_failure& f) {
  failure seen;
  seen.check = view(f.check);
  seen.status = view(f.status);
  seen.phase = view(f.phase);
  seen.device = view(f.device);
  seen.error_type = view(f.error_type);
  seen.error_text = view(f.error_text);
  seen.stderr_text = view(f.stderr_text);
  seen.warnings = view(f.warnings);
  seen.torch_version = view(f.torch_version);
  seen.torch_build = view(f.torch_build);
  if (f.struct_size < sizeof(assay_failure)) {
    return seen;  // a host of minor 1
  }
  seen.stdout_text = view(f.stdout_text);
  seen.log = view(f.log);
  seen.trace = view(f.trace);
  seen.end = view(f.end);
  seen.operators = view(f.operators);
  seen.dtype = view(f.dtype);
  seen.architecture = view(f.architecture);
  seen.device_name = view(f.device_name);
  seen.platform = view(f.platform);
  seen.chain = view(f.chain);
  seen.environment = view(f.environment);
  seen.probes = view(f.probes);
  return seen;
}

inline int run_classifier(void* self, const assay_failure* f, const assay_sink* answer) noexcept {
  try {
    for (const diagnosis& d : static_cast<classifier*>(self)->classify(view_of(*f))) {
      put(answer, "code", d.code);
      if (!d.cause.empty()) {
        put(answer, "cause", d.cause);
      }
      if (!d.advice.empty()) {
        put(answer, "advice", d.advice);
      }
      put(answer, "confidence", d.confidence);
      for (const std::string& line : d.evidence) {
        put(answer, "evidence", line);
      }
    }
    return 0;
  } catch (const std::exception& e) {
    answer->put(answer, "reason", e.what());
  } catch (...) {
    answer->put(answer, "reason", "the classifier threw something that is not a std::exception");
  }
  return 1;
}

}  // namespace detail

inline void registry::commit(assay_registrar* registrar) {
  for (const requirements& r : needs_) {
    const assay_requirements c = r.c_form();
    detail::must_be_accepted(registrar->require(registrar, &c));
  }
  for (const std::string& path : libraries_) {
    detail::must_be_accepted(registrar->add_operator_library(registrar, path.c_str()));
  }
  for (const assay::category& group : categories_) {
    detail::must_be_accepted(
        registrar->add_category(registrar, group.name_.c_str(), group.summary_.c_str()));
    for (const assay::check& c : group.checks_) {
      c.commit(registrar, group.name_);
    }
  }
  for (auto& p : probes_) {
    const std::string id = p->id();
    const std::string summary = p->summary();
    const assay_probe c{sizeof c, id.c_str(),       summary.c_str(), detail::run_probe_here,
                        p.get(),  detail::run_probe};
    detail::must_be_accepted(registrar->add_probe(registrar, &c));
  }
  for (auto& k : classifiers_) {
    const std::string id = k->id();
    const std::string summary = k->summary();
    const assay_classifier c{sizeof c, id.c_str(), summary.c_str(), detail::run_classifier,
                             k.get()};
    detail::must_be_accepted(registrar->add_classifier(registrar, &c));
  }
  // The host calls these objects until the process ends; plugins are never unloaded.
  for (auto& p : probes_) {
    static_cast<void>(p.release());
  }
  for (auto& k : classifiers_) {
    static_cast<void>(k.release());
  }
}

}  // namespace assay
