// SPDX-License-Identifier: Apache-2.0
//
// Reads a log of operator calls: the text format of PyTorch's operator input logs and of
// BackendBench. docs/replaying-a-model.md has its grammar. Pure: text in, calls out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::worker {

/// What a log says of one argument.
struct log_value {
  enum class form {
    none,
    boolean,  // integer: 0 or 1
    integer,
    real,
    complex,  // its value is not kept: no check can pass it
    text,
    device,  // text: "cpu", "cuda:0"
    name,    // text: a dtype, layout or memory format: "f16", "torch.strided"
    tensor,
    sparse_tensor,
    list,  // also a tuple
    dict   // its content is not kept
  };
  form is = form::none;
  std::int64_t integer = 0;
  double real = 0.0;
  std::string text;                   // of a tensor: its dtype as written, "f16", "torch.bool"
  std::vector<log_value> items;       // of a list
  std::vector<std::int64_t> sizes;    // of a tensor
  std::vector<std::int64_t> strides;  // of a tensor that is not contiguous

  friend bool operator==(const log_value&, const log_value&) = default;
};

/// One line of a log.
struct log_entry {
  std::string op;           // "aten.addmm.default"
  std::size_t line = 0;     // from 1
  std::uint64_t count = 0;  // how often the model made this call; 0: a made-up one
  std::string text;         // the arguments as they are written: "((T([4], f32),), {})"
  std::vector<log_value> arguments;
  std::vector<std::pair<std::string, log_value>> named;
};

/// A log that is not well-formed. what() is one line, "12:34: found X, expected Y": the line, the
/// column (bytes from 1), and what would have been right.
class trace_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Gives each entry to `take`, in order. The time is linear in the text's size. Throws trace_error
/// at the first thing that is not of the grammar; entries before it have been given.
void read_trace_log(std::string_view text, const std::function<void(log_entry)>& take);

}  // namespace assay::worker
