// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "collected_run.hpp"
#include "show_command.hpp"

namespace assay {
namespace {

using nlohmann::json;

// The Python side of host/common/generator.hpp, and what is the same in every script. torch has no
// unsigned 64-bit arithmetic; int64 wraps around, and a mask makes its shift a logical one.
constexpr std::string_view generator_text = R"py(
GAMMA = 0x9E3779B97F4A7C15


def signed(number):
    number &= 0xFFFFFFFFFFFFFFFF
    return number - (1 << 64) if number >> 63 else number


def shifted(bits, count):
    return (bits >> count) & ((1 << (64 - count)) - 1)


def draw(position, count):
    h = 0xCBF29CE484222325
    for byte in f"{CHECK}#{position}".encode():
        h = ((h ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    h ^= (SEED * GAMMA) & 0xFFFFFFFFFFFFFFFF
    z = torch.arange(1, count + 1, dtype=torch.int64) * signed(GAMMA) + signed(h)
    z = (z ^ shifted(z, 30)) * signed(0xBF58476D1CE4E5B9)
    z = (z ^ shifted(z, 27)) * signed(0x94D049BB133111EB)
    return z ^ shifted(z, 31)


def with_strides(values, sizes, strides):
    reach = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    for dimension, stride in enumerate(strides):
        if stride == 0:
            values = values.narrow(dimension, 0, 1)
    memory = torch.zeros(reach if values.numel() else 0, dtype=values.dtype)
    memory.as_strided(values.shape, strides).copy_(values)
    return memory.to(DEVICE).as_strided(sizes, strides)


def make_input(position, fill, sizes, dtype, low, high, strides=None):
    count = 1
    for size in sizes:
        count *= size
    z = draw(position, count)
    if fill == "distinct":
        low, high = math.ceil(low), math.ceil(high)
        start = (draw(position, 1).item() >> 1 & 0x7FFFFFFFFFFFFFFF) % max(high - low, 1)
        values = torch.full(sizes, start, dtype=torch.int64)
        for dimension, size in enumerate(sizes):
            steps = [1] * len(sizes)
            steps[dimension] = size
            values = values + torch.arange(size).reshape(steps)
        values = values % max(high - low, 1) + low
    elif fill == "normal":
        total = sum((z >> shift) & 0xFFFF for shift in (0, 16, 32, 48)) - 131070
        total = torch.where(total == 0, torch.ones_like(total), total)
        values = (total.double() * 2.6428997921303014e-05).float()
    else:
        unit = shifted(z, 11).double() * 2.0**-53
        values = unit * (high - low) + low
        if fill == "mask":
            values = unit < low
        elif fill == "index" or not dtype.is_floating_point:
            values = values.floor().to(torch.int64)
        else:
            instead = high / 2 if high != 0 else low / 2
            values = torch.where(values == 0, torch.full_like(values, instead), values)
            if dtype in (torch.float16, torch.bfloat16):
                values = values.float()
    values = values.to(dtype).reshape(sizes)
    return values.to(DEVICE) if strides is None else with_strides(values, sizes, strides)


def item(result, index):
    return result[index] if isinstance(result, (tuple, list)) else result

)py";

// Only for plans that pass a bare int: torch.ops repeats it for int[2] but not for SymInt[2].
constexpr std::string_view lists_text = R"py(
def lists_from_ints(op):
    """The operator; where it takes a list of ints, a bare int is repeated as assay does it."""
    lengths = {}
    for i, argument in enumerate(op._schema.arguments):
        if "List[int]" in str(argument.type) or "List[SymInt]" in str(argument.type):
            lengths[i] = lengths[argument.name] = argument.N or 1
    if not lengths:
        return op

    def as_list(key, value):
        return [value] * lengths[key] if key in lengths and type(value) is int else value

    def call(*arguments, **named):
        return op(*(as_list(i, value) for i, value in enumerate(arguments)),
                  **{name: as_list(name, value) for name, value in named.items()})

    return call

)py";

constexpr std::string_view main_text = R"py(

def synchronize():
    if torch.device(DEVICE).type == "cuda":
        torch.cuda.synchronize(DEVICE)


def tensors(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [tensor for part in result for tensor in tensors(part)]
    return []


def main():
    print("torch", torch.__version__, "hip", torch.version.hip, "cuda", torch.version.cuda)
    if torch.cuda.is_available():
        print("GPU", torch.cuda.get_device_name(DEVICE if DEVICE.startswith("cuda") else None))
    inputs = make_inputs()
    synchronize()
    start = time.perf_counter()
    result = run(*inputs)
    synchronize()
    print(f"first call {(time.perf_counter() - start) * 1e6:.1f} us")
    for _ in range(2):
        result = run(*inputs)
    synchronize()
    start = time.perf_counter()
    for _ in range(20):
        result = run(*inputs)
    synchronize()
    print(f"per call {(time.perf_counter() - start) / 20 * 1e6:.1f} us (20 calls)")
    for i, tensor in enumerate(tensors(result)):
        values = tensor.detach().cpu()
        values = (torch.view_as_real(values) if values.is_complex() else values).double()
        print(f"output {i}: {tensor.device} {tensor.dtype} {tuple(tensor.shape)}",
              f"sum {values.sum().item()!r} abs-sum {values.abs().sum().item()!r}")


with torch.inference_mode():
    main()
)py";

bool is_keyword(std::string_view name) {
  static constexpr std::array<std::string_view, 35> keywords{
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return std::find(keywords.begin(), keywords.end(), name) != keywords.end();
}

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string tuple(const std::vector<std::string>& parts) {
  return fmt::format("({}{})", joined(parts), parts.size() == 1 ? "," : "");
}

// "aten::add.Tensor" -> torch.ops.aten.add.Tensor
std::string operator_text(const std::string& op) {
  const std::size_t colons = op.find("::");
  const std::string space = colons == std::string::npos ? "aten" : op.substr(0, colons);
  const std::string rest = colons == std::string::npos ? op : op.substr(colons + 2);
  const std::size_t dot = rest.find('.');
  const std::string overload = dot == std::string::npos ? "default" : rest.substr(dot + 1);
  std::string out = "torch.ops";
  for (const std::string& part : {space, rest.substr(0, dot), overload}) {
    out = is_keyword(part) ? fmt::format("getattr({}, {})", out, quoted(part)) : out + "." + part;
  }
  return out;
}

std::string value_text(const json& argument, const std::string& dtype) {
  const std::string kind = text_of(argument, "kind");
  const json& value = argument.contains("value") ? argument["value"] : json();
  if (kind == "none") {
    return "None";
  }
  if (kind == "input") {
    return fmt::format("in{}", value.dump());
  }
  if (kind == "result") {
    return fmt::format("item(r{}, {:.0f})", value.dump(), number_of(argument, "item"));
  }
  if (kind == "bool") {
    return value == json(true) || value == json(1) ? "True" : "False";
  }
  if (kind == "string") {
    return quoted(value.is_string() ? value.get<std::string>() : "");
  }
  if (kind == "device") {
    return "torch.device(DEVICE)";
  }
  if (kind == "dtype") {
    return "torch." + (value.is_string() ? value.get<std::string>() : dtype);
  }
  if (value.is_array()) {
    std::vector<std::string> items;
    for (const json& part : value) {
      items.push_back(kind == "list"        ? value_text(part, dtype)
                      : kind == "bool_list" ? (part == json(true) ? "True" : "False")
                                            : python_number(part));
    }
    return fmt::format("[{}]", joined(items));
  }
  return python_number(value);
}

// A bare int may stand for a list of sizes, and those are not negative.
bool has_bare_int(const json& call) {
  const json& arguments = list_of(call, "arguments");
  return std::any_of(arguments.begin(), arguments.end(), [](const json& argument) {
    return text_of(argument, "kind") == "int" && number_of(argument, "value") >= 0;
  });
}

// "aten::add.Tensor" -> aten_add_Tensor
std::string wrapped_name(const std::string& op) {
  std::string out;
  for (const char c : op) {
    if (c != ':' || out.empty() || out.back() != '_') {
      out += c == ':' || c == '.' ? '_' : c;
    }
  }
  return out;
}

std::string wrappers_text(const json& plan) {
  std::vector<std::string> known;
  std::string out;
  for (const json& call : plan) {
    const std::string op = text_of(call, "op");
    if (has_bare_int(call) && std::find(known.begin(), known.end(), op) == known.end()) {
      known.push_back(op);
      out += fmt::format("{} = lists_from_ints({})\n", wrapped_name(op), operator_text(op));
    }
  }
  return out.empty() ? out : std::string(lists_text) + "\n" + out;
}

std::string call_text(const json& call, std::size_t position, const std::string& dtype) {
  const std::string op = text_of(call, "op");
  std::vector<std::string> arguments;
  for (const json& argument : list_of(call, "arguments")) {
    const std::string name = text_of(argument, "argument");
    const std::string value = value_text(argument, dtype);
    arguments.push_back(name.empty()       ? value
                        : is_keyword(name) ? fmt::format("**{{{}: {}}}", quoted(name), value)
                                           : name + "=" + value);
  }
  return fmt::format("    r{} = {}({})\n", position,
                     has_bare_int(call) ? wrapped_name(op) : operator_text(op), joined(arguments));
}

std::string strides_text(const json& input) {
  std::vector<std::string> strides;
  for (const json& stride : list_of(input, "strides")) {
    strides.push_back(stride.dump());
  }
  const bool given = input.contains("strides") && input["strides"].is_array();
  return given ? ", strides=" + tuple(strides) : "";
}

std::string inputs_text(const json& inputs, const std::string& dtype) {
  std::string out = "\ndef make_inputs():\n    return [\n";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const json& input = inputs[i];
    std::vector<std::string> sizes;
    for (const json& size : list_of(input, "sizes")) {
      sizes.push_back(size.dump());
    }
    const std::string own = text_of(input, "dtype");
    const auto bound = [&input](const char* name) {
      return python_number(json(number_of(input, name)));
    };
    out += fmt::format("        make_input({}, {}, {}, torch.{}, {}, {}{}),\n", i,
                       quoted(text_of(input, "fill")), tuple(sizes), own.empty() ? dtype : own,
                       bound("low"), bound("high"), strides_text(input));
  }
  return out + "    ]\n\n";
}

std::string run_text(const json& record, const std::string& dtype) {
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < list_of(record, "inputs").size(); ++i) {
    parameters.push_back(fmt::format("in{}", i));
  }
  const json& plan = list_of(record, "plan");
  std::string out = wrappers_text(plan);
  out += fmt::format("{}\ndef run({}):\n", out.empty() ? "" : "\n", joined(parameters));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    out += call_text(plan[i], i, dtype);
  }
  return out + fmt::format("    return r{}\n", plan.empty() ? 0 : plan.size() - 1);
}

// Operators of other namespaces come from an extension that only its plugin's author can name.
std::string libraries_text(const json& plan) {
  std::vector<std::string> spaces;
  for (const json& call : plan) {
    const std::string op = text_of(call, "op");
    const std::string space = op.substr(0, op.find("::"));
    if (space != "aten" && std::find(spaces.begin(), spaces.end(), space) == spaces.end()) {
      spaces.push_back(space);
    }
  }
  std::string out;
  for (const std::string& space : spaces) {
    out += fmt::format("# torch.ops.load_library(\"PATH\")  # what brings the operators of {}\n",
                       space);
  }
  return out.empty() ? out : "\n" + out;
}

}  // namespace

std::string python_number(const json& number) {
  if (number.is_string() || number.is_null()) {
    return fmt::format("float(\"{}\")", number.is_null() ? "nan" : number.get<std::string>());
  }
  return number.dump();
}

std::string python_reproducer(const json& check_record, const std::string& dtype,
                              const std::string& device, std::uint64_t seed) {
  const std::string check = text_of(check_record, "category") + "/" + text_of(check_record, "name");
  std::string out = fmt::format(
      "#!/usr/bin/env python3\n"
      "# Check {}[{}] of assay, as plain PyTorch calls; nothing of assay is needed.\n"
      "# The inputs are bit for bit those that assay makes for this check and seed.\n"
      "# Made by `assay show` from the check's plan.\n"
      "import math\nimport time\n\nimport torch\n\n"
      "DEVICE = {}  # edit this line to run it elsewhere: \"cpu\", \"cuda:1\"\n"
      "CHECK = {}\n"
      "SEED = {}\n",
      check, dtype, quoted(device), quoted(check), seed);
  out += libraries_text(list_of(check_record, "plan"));
  out += generator_text;
  out += inputs_text(list_of(check_record, "inputs"), dtype);
  out += run_text(check_record, dtype);
  out += main_text;
  return out;
}

}  // namespace assay
