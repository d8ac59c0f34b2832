// SPDX-License-Identifier: Apache-2.0
//
// What a plugin registers, kept aside until all of it is known.
#pragma once

#include <assay/abi.h>
#include <assay/diagnostics.hpp>
#include <assay/plan.hpp>

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

 private:
  friend class registry;

  void commit(assay_registrar* registrar, const std::string& category) const {
    std::vector<assay_input> inputs;
    std::vector<const assay_input*> input_list;
    inputs.reserve(inputs_.size());
    for (const input& from : inputs_) {
      assay_input c{};
      c.struct_size = sizeof c;
      c.dtype = static_cast<std::int32_t>(from.type);
      c.fill = from.fill;
      c.dimensions = static_cast<std::uint32_t>(from.sizes.size());
      c.sizes = from.sizes.data();
      c.low = from.low;
      c.high = from.high;
      inputs.push_back(c);
      input_list.push_back(&inputs.back());
    }
    std::vector<std::vector<assay_value>> items;
    std::deque<std::vector<assay_value>> arguments;
    std::deque<assay_call> calls;
    std::vector<const assay_call*> call_list;
    for (const operator_call& from : plan_) {
      auto& list = arguments.emplace_back();
      for (const value& v : from.arguments) {
        list.push_back(v.c_form(items));
      }
      assay_call c{};
      c.struct_size = sizeof c;
      c.argument_count = static_cast<std::uint32_t>(list.size());
      c.op = from.op.c_str();
      c.arguments = list.data();
      call_list.push_back(&calls.emplace_back(c));
    }
    std::vector<std::int32_t> dtypes;
    for (const dtype type : dtypes_) {
      dtypes.push_back(static_cast<std::int32_t>(type));
    }
    assay_check c{};
    c.struct_size = sizeof c;
    c.input_count = static_cast<std::uint32_t>(input_list.size());
    c.category = category.c_str();
    c.name = name_.c_str();
    c.inputs = input_list.data();
    c.calls = call_list.data();
    c.call_count = static_cast<std::uint32_t>(call_list.size());
    c.dtype_count = static_cast<std::uint32_t>(dtypes.size());
    c.dtypes = dtypes.data();
    detail::must_be_accepted(registrar->add_check(registrar, &c));
  }

  std::string name_;
  std::vector<input> inputs_;
  std::vector<operator_call> plan_;
  std::vector<dtype> dtypes_{dtype::float32, dtype::float16, dtype::bfloat16, dtype::float64};
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

  /// Adds a probe or a classifier. It lives until the process ends.
  void add(std::unique_ptr<assay::probe> p) { probes_.push_back(std::move(p)); }
  void add(std::unique_ptr<assay::classifier> c) { classifiers_.push_back(std::move(c)); }

  /// Hands everything to the host. Called once, by ASSAY_PLUGIN. Throws registration_error.
  void commit(assay_registrar* registrar);

 private:
  std::deque<assay::category> categories_;
  std::vector<std::string> libraries_;
  std::vector<std::unique_ptr<assay::probe>> probes_;
  std::vector<std::unique_ptr<assay::classifier>> classifiers_;
};

namespace detail {

inline void put(const assay_sink* sink, const char* name, const std::string& text) {
  sink->put(sink, name, text.c_str());
}

inline std::string_view view(const char* text) { return text == nullptr ? "" : text; }

inline int run_probe(void* self, const assay_sink* answer) noexcept {
  try {
    const probe_answer a = static_cast<probe*>(self)->run();
    using enum probe_state;
    answer->put(answer, "state", a.state == yes ? "yes" : a.state == no ? "no" : "unknown");
    put(answer, "fact", a.fact);
    return 0;
  } catch (const std::exception& e) {
    answer->put(answer, "reason", e.what());
  } catch (...) {
    answer->put(answer, "reason", "the probe threw something that is not a std::exception");
  }
  return 1;
}

inline int run_classifier(void* self, const assay_failure* f, const assay_sink* answer) noexcept {
  try {
    const failure seen{view(f->check),       view(f->status),     view(f->phase),
                       view(f->device),      view(f->error_type), view(f->error_text),
                       view(f->stderr_text), view(f->warnings),   view(f->torch_version),
                       view(f->torch_build)};
    for (const diagnosis& d : static_cast<classifier*>(self)->classify(seen)) {
      put(answer, "code", d.code);
      put(answer, "cause", d.cause);
      put(answer, "advice", d.advice);
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
    const assay_probe c{sizeof c, id.c_str(), summary.c_str(), detail::run_probe, p.get()};
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
