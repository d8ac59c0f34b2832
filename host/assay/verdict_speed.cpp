// SPDX-License-Identifier: Apache-2.0
//
// How near to what this device was measured to reach, and what holds it back?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collected_run.hpp"
#include "datasheet_peaks.hpp"
#include "verdict_links.hpp"

namespace assay::verdict_links {

namespace {

using nlohmann::json;

constexpr double launch_margin = 1.3;         // below this many launches the launch is what costs
constexpr double measuring_tolerance = 1.03;  // what two measurements of one thing may differ by
constexpr double slow_percent = 30.0;         // of the ceiling, at sizes that fill the device
constexpr double far_percent = 5.0;           // below it no ceiling is what holds the work back
constexpr double tiny_percent = 1.0;    // of the ceiling, at sizes that do not fill the device
constexpr double long_launches = 10.0;  // of many launches' time
constexpr double in_each_call = 0.5;    // waits per traced call; fewer are no habit of it
constexpr double waiting_share = 0.9;   // of the call, within which the host came back
constexpr double copy_write_share = 0.5;
constexpr double read_share = 0.1;  // below this share of output a check mostly reads
constexpr double cache_bytes = 256.0 * 1024 * 1024;  // no last-level cache is larger

double dtype_bytes(const std::string& dtype) {
  if (dtype == "float64" || dtype == "int64") {
    return 8.0;
  }
  if (dtype == "float16" || dtype == "bfloat16" || dtype == "int16") {
    return 2.0;
  }
  return dtype == "int8" || dtype == "uint8" || dtype == "bool" ? 1.0 : 4.0;
}

double output_bytes(const json& result) {
  double bytes = 0.0;
  for (const json& output : list_of(result, "outputs")) {
    double elements = 1.0;
    for (const json& size : list_of(output, "shape")) {
      elements *= size.is_number() ? size.get<double>() : 0.0;
    }
    bytes += elements * dtype_bytes(text_of(output, "dtype"));
  }
  return bytes;
}

/// One limit, and how much of it was reached.
struct roof {
  std::string bound;    // "memory", "compute"
  std::string ceiling;  // "copy bandwidth"
  double fraction = 0.0;
  std::optional<double> datasheet_fraction;
};

class speed {
 public:
  explicit speed(const facts& known)
      : known_(known),
        timing_(member_of(known.run.result, "timing")),
        time_us_(device_time_us(known.run.result, known.evidence)) {
    for (const char* member :
         {"bound", "gb_per_s", "tflop_per_s", "percent", "ceiling", "datasheet_percent"}) {
      members_[member] = nullptr;
    }
  }

  speed_result judge() {
    if (!time_us_) {
      return done(state::unknown, why_no_time());
    }
    take_rates();
    const bool roofs_known = facts::seen(known_.run.ceilings);
    if (waits_for_device()) {
      members_["bound"] = "host sync";
      return done(state::pass, why_waits());
    }
    if (!roofs_known) {
      return done(state::unknown, why_no_ceilings());
    }
    if (const std::string why = launch_bound(); !why.empty()) {
      members_["bound"] = "launch";
      return done(state::pass, why);
    }
    return against_roofs();
  }

 private:
  speed_result done(state is, std::string why) {
    return {{is, std::move(why)}, std::move(members_)};
  }

  [[nodiscard]] std::string why_no_time() const {
    if (!timing_.is_object()) {
      return "it was not timed";
    }
    const std::string basis = text_of(timing_, "device_basis") == "span"
                                  ? "the event pair gives an upper bound alone"
                                  : "there is no time of the device alone";
    return known_.why_unseen(known_.profiler, "the profiler saw nothing") + ", and " + basis;
  }

  [[nodiscard]] std::string why_no_ceilings() const {
    const std::string why = text_of(known_.run.ceilings, "why");
    return "the ceilings are not known" + (why.empty() ? "" : ": " + why);
  }

  void take_rates() {
    const json& cost = known_.cost();
    if (cost.is_object()) {
      bytes_ = number_of(cost, "elements") * dtype_bytes(known_.dtype) + number_of(cost, "bytes");
      flops_ = number_of(cost, "flops");
    } else {
      bytes_ = number_of(known_.evidence, "io_bytes");
    }
    if (*time_us_ > 0.0) {
      members_["gb_per_s"] = bytes_ > 0.0 ? json(bytes_ / *time_us_ / 1e3) : json();
      members_["tflop_per_s"] = flops_ > 0.0 ? json(flops_ / *time_us_ / 1e6) : json();
    }
  }

  // Without a profiler that tells: the host came back only when the device was done.
  [[nodiscard]] bool waits_for_device() const {
    if (known_.on_cpu) {
      return false;
    }
    if (const auto syncs = number_if_any(known_.profiler, "syncs")) {
      return *syncs >= in_each_call;
    }
    return text_of(timing_, "device_basis") == "span" &&
           number_of(timing_, "submit_us") >= waiting_share * number_of(timing_, "wall_us");
  }

  [[nodiscard]] std::string why_waits() const {
    const auto syncs = number_if_any(known_.profiler, "syncs");
    const double times = syncs ? std::max(1.0, std::round(*syncs)) : 0.0;
    return fmt::format(
        "the host waits for the device inside the call{}: {:.3g} us of work in a call "
        "of {:.3g} us",
        times == 0.0   ? ""
        : times == 1.0 ? " (once)"
                       : fmt::format(" ({:.0f} times)", times),
        *time_us_, number_of(timing_, "wall_us"));
  }

  [[nodiscard]] std::string launch_bound() const {
    const auto launch_us = number_if_any(known_.run.ceilings, "launch_us");
    if (!launch_us) {
      return "";
    }
    const double kernels = known_.on_cpu ? static_cast<double>(leaf_operators(known_.trace).size())
                                         : std::round(number_of(known_.profiler, "kernel_count"));
    const double dispatch_us = number_of(timing_, "submit_us");
    const bool short_work = *time_us_ < launch_margin * std::max(1.0, kernels) * *launch_us;
    const bool long_dispatch = !known_.on_cpu && dispatch_us > launch_margin * *time_us_;
    if (!short_work && !long_dispatch) {
      return "";
    }
    if (known_.on_cpu) {
      return fmt::format(
          "launch-bound: {:.3g} us for {:.0f} operator{}, of which each costs "
          "{:.3g} us before it does any work",
          *time_us_, std::max(1.0, kernels), kernels > 1.0 ? "s" : "", *launch_us);
    }
    if (*time_us_ <= 0.0) {
      return fmt::format("launch-bound: no work for the device behind {:.3g} us of dispatch",
                         dispatch_us);
    }
    return fmt::format("launch-bound: {} behind {:.3g} us of dispatch",
                       kernels > 1.0
                           ? fmt::format("{:.0f} kernels of {:.3g} us together", kernels, *time_us_)
                           : fmt::format("a {:.3g} us kernel", *time_us_),
                       dispatch_us);
  }

  void add_memory_roof(std::vector<roof>& roofs, const datasheet_peak* peak) const {
    const double copy = number_of(known_.run.ceilings, "copy_gb_per_s");
    if (bytes_ <= 0.0 || copy <= 0.0) {
      return;
    }
    const auto measured_read = number_if_any(known_.run.ceilings, "read_gb_per_s");
    const double read = measured_read.value_or(copy);
    // A copy writes half of its bytes; what writes less lies between copying and reading.
    const double written = output_bytes(known_.run.result) / bytes_;
    const double reads =
        measured_read ? std::clamp(1.0 - written / copy_write_share, 0.0, 1.0) : 0.0;
    const bool only_reads = measured_read && written < read_share;
    const double ceiling = only_reads ? read : copy + (read - copy) * reads;
    const double rate = bytes_ / *time_us_ / 1e3;
    roofs.push_back({"memory",
                     only_reads     ? "read bandwidth"
                     : reads > 0.05 ? "memory bandwidth"
                                    : "copy bandwidth",
                     rate / ceiling,
                     peak == nullptr ? std::nullopt : std::optional(rate / peak->memory_gb_per_s)});
  }

  void add_compute_roof(std::vector<roof>& roofs, const datasheet_peak* peak) const {
    if (flops_ <= 0.0 || !flag_is(known_.cost(), "matrix", true)) {
      return;
    }
    const bool tf32 = known_.dtype == "float32" && !known_.on_cpu &&
                      flag_is(known_.accuracy(), "contraction", true) &&
                      flag_is(member_of(known_.evidence, "correct"), "tf32", true);
    const json& rates = member_of(known_.run.ceilings, "matrix_tflop_per_s");
    const std::string dtype = tf32 && number_if_any(rates, "tf32") ? "tf32" : known_.dtype;
    const auto ceiling = number_if_any(rates, dtype);
    if (!ceiling || *ceiling <= 0.0) {
      return;
    }
    const double rate = flops_ / *time_us_ / 1e6;
    const auto datasheet = peak == nullptr ? std::nullopt : datasheet_matrix_rate(*peak, dtype);
    roofs.push_back({"compute", "matrix rate " + dtype, rate / *ceiling,
                     datasheet ? std::optional(rate / *datasheet) : std::nullopt});
  }

  speed_result against_roofs() {
    const datasheet_peak* peak =
        known_.on_cpu ? nullptr
                      : find_datasheet_peak(known_.run.architecture, known_.run.device_name);
    std::vector<roof> roofs;
    add_memory_roof(roofs, peak);
    add_compute_roof(roofs, peak);
    if (roofs.empty()) {
      return done(state::unknown, bytes_ <= 0.0 && flops_ <= 0.0
                                      ? "the check does not say what it moves or computes"
                                      : "the ceiling that it would be held against was not "
                                        "measured");
    }
    const roof nearest =
        *std::max_element(roofs.begin(), roofs.end(),
                          [](const roof& a, const roof& b) { return a.fraction < b.fraction; });
    members_["bound"] = nearest.bound;
    members_["ceiling"] = nearest.ceiling;
    const bool memory = nearest.bound == "memory";
    if (nearest.fraction > measuring_tolerance && memory &&
        number_of(known_.evidence, "io_bytes") < cache_bytes) {
      return done(state::pass, "faster than the memory: its data lie in a cache");
    }
    const double percent = 100.0 * nearest.fraction;
    members_["percent"] = percent;
    if (nearest.datasheet_fraction) {
      members_["datasheet_percent"] = 100.0 * *nearest.datasheet_fraction;
    }
    if (nearest.fraction > measuring_tolerance) {
      return done(state::warn,
                  fmt::format("{:.0f} % of the {} measured here, above the ceiling: distrust this "
                              "number or the ceiling, which --refresh-ceilings measures anew",
                              percent, nearest.ceiling));
    }
    if (percent < far_percent) {
      members_["bound"] = "latency";
    }
    if (known_.large && percent < slow_percent) {
      return done(state::warn,
                  fmt::format("slow: {:.2g} % of the {} measured here", percent, nearest.ceiling));
    }
    if (const double launches = launches_of_slow(percent); launches > 0.0) {
      return done(state::warn, fmt::format("slow: {:.2g} % of the {} measured here, for as long as "
                                           "{:.0f} launches take",
                                           percent, nearest.ceiling, launches));
    }
    return done(state::pass,
                fmt::format("{:.2g} % of the {} measured here", percent, nearest.ceiling));
  }

  // Of work that does not fill the device, what is slow beyond doubt: 0 when it is not. A
  // percentage means little there, so it must be tiny, over many launches' time, and in both
  // passes. A CPU has no kernels that may be expected to be near its limits.
  [[nodiscard]] double launches_of_slow(double percent) const {
    const auto launch_us = number_if_any(known_.run.ceilings, "launch_us");
    if (known_.on_cpu || !launch_us || *launch_us <= 0.0) {
      return 0.0;
    }
    double least_us = *time_us_;
    if (const auto timed = number_if_any(timing_, "device_us");
        timed && text_of(timing_, "device_basis") == "held") {
      least_us = std::min(least_us, *timed);
    }
    const double launches = least_us / *launch_us;
    const bool slow = least_us > 0.0 && percent * *time_us_ / least_us < tiny_percent;
    return slow && launches >= long_launches ? launches : 0.0;
  }

  const facts& known_;
  const json& timing_;
  std::optional<double> time_us_;
  double bytes_ = 0.0;
  double flops_ = 0.0;
  json members_ = json::object();
};

}  // namespace

speed_result speed_link(const facts& known) { return speed(known).judge(); }

}  // namespace assay::verdict_links

namespace assay {

bool above_ceiling(const nlohmann::json& verdict) {
  return number_of(verdict, "percent") > 100.0 * verdict_links::measuring_tolerance;
}

std::optional<double> device_time_us(const nlohmann::json& result, const nlohmann::json& evidence) {
  const nlohmann::json& timing = member_of(result, "timing");
  if (!timing.is_object()) {
    return std::nullopt;
  }
  const nlohmann::json& profiler = member_of(evidence, "profiler");
  if (verdict_links::facts::seen(profiler)) {
    double us = number_of(profiler, "kernel_us") + number_of(profiler, "memset_us");
    for (const nlohmann::json& copy : list_of(profiler, "copies")) {
      us += text_of(copy, "kind") == "DtoD" ? number_of(copy, "us") : 0.0;
    }
    return us;
  }
  if (text_of(timing, "device_basis") == "held") {
    return number_if_any(timing, "device_us");
  }
  return text_of(result, "device") == "cpu" ? number_if_any(timing, "wall_us") : std::nullopt;
}

}  // namespace assay
