// SPDX-License-Identifier: Apache-2.0
#include "toml_pack_formula.hpp"

#include <muParser.h>

#include <algorithm>
#include <cmath>

#include "host/common/nearest.hpp"

namespace assay::worker {

namespace {

constexpr std::size_t longest_formula = 500;

double round_up(double x) { return std::ceil(x); }
double round_down(double x) { return std::floor(x); }

}  // namespace

formula_reader::formula_reader() : parser_(std::make_unique<mu::Parser>()) {
  parser_->DefineFun("ceil", round_up);
  parser_->DefineFun("floor", round_down);
}

formula_reader::~formula_reader() = default;

void formula_reader::set_names(const std::map<std::string, double>& names) {
  parser_->ClearConst();
  names_.clear();
  for (const auto& [name, value] : names) {
    parser_->DefineConst(name, value);
    names_.push_back(name);
  }
}

bool formula_reader::is_taken(const std::string& name) const {
  return parser_->GetFunDef().contains(name);
}

double formula_reader::value(const std::string& formula) {
  // muParser takes its text as C does, and lets a formula set variables and have several values.
  const std::size_t strange = formula.find_first_of(std::string_view("\0\"'#;\\", 6));
  if (strange != std::string::npos) {
    throw text_mistake(
        "a formula has no " + (formula[strange] == '\0' ? std::string("zero byte")
                                                        : "'" + formula.substr(strange, 1) + "'"),
        strange);
  }
  if (formula.size() > longest_formula) {
    throw text_mistake("a formula has at most " + std::to_string(longest_formula) + " characters",
                       longest_formula);
  }
  double result = 0.0;
  try {
    parser_->SetExpr(formula);
    int count = 0;
    const mu::value_type* values = parser_->Eval(count);
    if (count != 1) {
      throw text_mistake("a formula has one value, this one has " + std::to_string(count), 0);
    }
    result = values[0];
  } catch (const mu::Parser::exception_type& e) {
    const auto at = std::min(static_cast<std::size_t>(std::max(e.GetPos(), 0)), formula.size());
    if (e.GetCode() == mu::ecUNASSIGNABLE_TOKEN) {
      const std::string& name = e.GetToken();
      const std::string near = did_you_mean(name, names_);
      throw text_mistake(
          "formula '" + formula + "': there is no number or function '" + name + "'" + near, at);
    }
    throw text_mistake("formula '" + formula + "' cannot be read: " + e.GetMsg(), at);
  }
  if (!std::isfinite(result)) {
    throw text_mistake(
        "formula '" + formula + "' is " + (std::isnan(result) ? "no number" : "infinite"), 0);
  }
  return result;
}

}  // namespace assay::worker
