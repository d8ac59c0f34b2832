// SPDX-License-Identifier: Apache-2.0
//
// A registrar that copies everything it is given, as a host must, for tests of the plugin side.
#pragma once

#include <assay/abi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::test {

struct seen_value {
  std::uint32_t kind = 0;
  std::uint32_t item = 0;
  std::optional<std::string> argument;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<seen_value> items;
};

struct seen_input {
  std::int32_t dtype = 0;
  std::int32_t fill = 0;
  std::vector<std::int64_t> sizes;
  double low = 0.0;
  double high = 0.0;
};

struct seen_call {
  std::string op;
  std::vector<seen_value> arguments;
};

struct seen_check {
  std::string category;
  std::string name;
  std::vector<seen_input> inputs;
  std::vector<seen_call> calls;
  std::vector<std::int32_t> dtypes;
};

struct seen_probe {
  std::string id;
  std::string summary;
  int (*run)(void*, const assay_sink*) = nullptr;
  void* self = nullptr;
};

struct seen_classifier {
  std::string id;
  std::string summary;
  int (*classify)(void*, const assay_failure*, const assay_sink*) = nullptr;
  void* self = nullptr;
};

inline seen_value copy(const assay_value& v) {
  seen_value s;
  s.kind = v.kind;
  s.item = v.item;
  if (v.argument != nullptr) {
    s.argument = v.argument;
  }
  s.integer = v.integer;
  s.real = v.real;
  switch (v.kind) {
    case ASSAY_VALUE_STRING:
      s.text = v.text;
      break;
    case ASSAY_VALUE_INT_LIST:
      s.integers.assign(v.integers, v.integers + v.count);
      break;
    case ASSAY_VALUE_FLOAT_LIST:
      s.reals.assign(v.reals, v.reals + v.count);
      break;
    case ASSAY_VALUE_LIST:
      for (std::uint64_t i = 0; i < v.count; ++i) {
        s.items.push_back(copy(v.items[i]));
      }
      break;
    default:
      break;
  }
  return s;
}

inline seen_check copy(const assay_check& c) {
  seen_check s;
  s.category = c.category;
  s.name = c.name;
  for (std::uint32_t i = 0; i < c.input_count; ++i) {
    const assay_input& from = *c.inputs[i];
    s.inputs.push_back(
        {from.dtype, from.fill, {from.sizes, from.sizes + from.dimensions}, from.low, from.high});
  }
  for (std::uint32_t i = 0; i < c.call_count; ++i) {
    const assay_call& from = *c.calls[i];
    seen_call& to = s.calls.emplace_back();
    to.op = from.op;
    for (std::uint32_t k = 0; k < from.argument_count; ++k) {
      to.arguments.push_back(copy(from.arguments[k]));
    }
  }
  s.dtypes.assign(c.dtypes, c.dtypes + c.dtype_count);
  return s;
}

class fake_registrar {
 public:
  fake_registrar() {
    table_.struct_size = sizeof(assay_registrar);
    table_.add_category = [](assay_registrar* t, const char* name, const char* summary) {
      return self(t).took("category",
                          [&](fake_registrar& f) { f.categories.emplace_back(name, summary); });
    };
    table_.add_check = [](assay_registrar* t, const assay_check* c) {
      return self(t).took("check", [&](fake_registrar& f) { f.checks.push_back(copy(*c)); });
    };
    table_.add_operator_library = [](assay_registrar* t, const char* path) {
      return self(t).took("library", [&](fake_registrar& f) { f.libraries.emplace_back(path); });
    };
    table_.add_probe = [](assay_registrar* t, const assay_probe* p) {
      return self(t).took("probe", [&](fake_registrar& f) {
        keep(p->self);
        f.probes.push_back({p->id, p->summary, p->run, p->self});
      });
    };
    table_.add_classifier = [](assay_registrar* t, const assay_classifier* k) {
      return self(t).took("classifier", [&](fake_registrar& f) {
        keep(k->self);
        f.classifiers.push_back({k->id, k->summary, k->classify, k->self});
      });
    };
    table_.fail = [](assay_registrar* t, const char* reason) {
      self(t).failures.emplace_back(reason);
    };
  }
  fake_registrar(const fake_registrar&) = delete;
  fake_registrar& operator=(const fake_registrar&) = delete;

  /// From now on a registration of this kind is turned down with this text.
  void refuse(std::string kind, std::string text) {
    refused_ = std::move(kind);
    refusal_ = std::move(text);
  }

  assay_registrar* table() { return &table_; }

  std::vector<std::string> order;  // the kinds, as they came
  std::vector<std::pair<std::string, std::string>> categories;
  std::vector<seen_check> checks;
  std::vector<std::string> libraries;
  std::vector<seen_probe> probes;
  std::vector<seen_classifier> classifiers;
  std::vector<std::string> failures;

 private:
  // The way back from the table, which is all that a plugin passes, to this object.
  struct table_and_owner : assay_registrar {
    fake_registrar* owner;
  };

  static fake_registrar& self(assay_registrar* t) {
    return *static_cast<table_and_owner*>(t)->owner;
  }

  // A host holds a plugin's objects until the process ends; without this they count as leaks.
  static void keep(void* object) {
    static auto& kept = *new std::vector<void*>;
    kept.push_back(object);
  }

  template <typename Record>
  const char* took(const char* kind, Record record) {
    order.emplace_back(kind);
    if (refused_ == kind) {
      return refusal_.c_str();
    }
    record(*this);
    return nullptr;
  }

  table_and_owner table_{{}, this};
  std::string refused_;
  std::string refusal_;
};

/// A sink that keeps what is put, in order.
class fake_sink {
 public:
  fake_sink() {
    sink_.struct_size = sizeof sink_;
    sink_.put = [](const assay_sink* s, const char* name, const char* text) {
      static_cast<fake_sink*>(s->context)->pairs.emplace_back(name, text);
    };
    sink_.context = this;
  }
  fake_sink(const fake_sink&) = delete;
  fake_sink& operator=(const fake_sink&) = delete;

  const assay_sink* table() const { return &sink_; }

  std::vector<std::pair<std::string, std::string>> pairs;

 private:
  assay_sink sink_{};
};

}  // namespace assay::test
