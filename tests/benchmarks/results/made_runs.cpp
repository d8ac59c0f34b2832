// SPDX-License-Identifier: Apache-2.0
#include "made_runs.hpp"

#include <fmt/format.h>

#include <random>
#include <sstream>
#include <vector>

#include "host/results/saved_run.hpp"
#include "host/store/run_store.hpp"

namespace assay::benchmarks {

namespace {

constexpr const char* device = "cuda:0";

std::string begin_of(const made_run& run) {
  std::string options;
  for (const char* name : {"device", "profile", "sizes", "timeout", "measure-limit", "set"}) {
    options += fmt::format(R"({}"{}":{{"source":"built in","value":"auto"}})",
                           options.empty() ? "" : ",", name);
  }
  std::string text = fmt::format(
      R"({{"assay_version":"0.1.0","command_line":["assay","run"],"options":{{{}}},"record":"run",)"
      R"("schema_version":1,"seed":0,"started":"2026-11-30T00:00:00Z"}})"
      "\n",
      options);
  text += fmt::format(
      R"({{"build":"rocm","devices":[{{"architecture":"gfx1100","device":"{}","name":"a GPU"}}],)"
      R"("record":"engine","status":"ready","torch_package":"2.{}.0+rocm7.2"}})"
      "\n",
      device, run.seed / 100);
  return text;
}

std::string id_of(std::size_t check) {
  return fmt::format("category_{}/check_{}[float32]", check / 25, check);
}

std::string list_of(const std::vector<double>& values) {
  return fmt::format("[{:.9g}]", fmt::join(values, ","));
}

}  // namespace

std::string result_text(const made_run& run) {
  std::mt19937 random(run.seed);
  std::normal_distribution<double> noise(0.0, 0.02);
  std::string text = begin_of(run);
  std::vector<double> wall(run.samples);
  std::vector<double> busy(run.samples);
  for (std::size_t check = 0; check < run.checks; ++check) {
    const double usual = 5.0 + static_cast<double>(check % 97);
    const double median = usual * (check % 10 == 0 ? run.slower : 1.0);
    for (std::size_t i = 0; i < run.samples; ++i) {
      busy[i] = median * (1.0 + noise(random));
      wall[i] = busy[i] + 4.0 * (1.0 + noise(random));
    }
    const std::string id = id_of(check);
    text += fmt::format(R"({{"device":"{}","id":"{}","record":"starting","worker":1}})"
                        "\n",
                        device, id);
    text += fmt::format(
        R"({{"category":"category_{0}","device":"{1}","dtype":"float32","elapsed_s":0.5,)"
        R"("error":null,"exit_code":null,"extra_threads":0,"id":"{2}","name":"check_{3}","note":"",)"
        R"("on_device":true,"outputs":[{{"device":"{1}","dtype":"float32","shape":[64,1024],)"
        R"("strides":[1024,1]}}],"phase":"done","phase_us":{{"bind":10.5,"inputs":200.25,)"
        R"("first_call":3000.5,"warm_up":20.0,"timed":2000.0}},"plugin":"made","poisoned":false,)"
        R"("record":"result","repeat_of":null,"signal":null,"status":"ok","stderr":"",)"
        R"("stderr_bytes":0,"stdout":"","stdout_bytes":0,"timing":{{"calls":10000,)"
        R"("device_basis":"held","device_us":{4:.9g},"first_call_us":3000.5,"profile":"measure",)"
        R"("samples":{{"device_us":{5},"wall_us":{6}}},"stop_reason":"steady","submit_us":3.5,)"
        R"("wall_us":{7:.9g},"warm_up_calls":10}},"warnings":[],"worker":1}})"
        "\n",
        check / 25, device, id, check, median, list_of(busy), list_of(wall), median + 4.0);
    text += fmt::format(
        R"({{"device":"{}","evidence":{{"correct":{{"outputs":[{{"max_abs":1e-6,)"
        R"("normalised_error":0.0125}}]}},"io_bytes":524288,"kernels":[{{"count":1,)"
        R"("name":"void at::native::vectorized_elementwise_kernel<4, at::native::made>"}}],)"
        R"("sizes":"classic"}},"id":"{}","record":"evidence","status":"ok","verdict":{{)"
        R"("bound":"memory","headline":"","links":{{"correct":{{"state":"pass","why":""}},)"
        R"("no_fallback":{{"state":"pass","why":""}},"on_device":{{"state":"pass","why":""}},)"
        R"("path":{{"state":"pass","why":""}},"ran":{{"state":"pass","why":""}},"speed":{{)"
        R"("state":"pass","why":"80 % of the copy bandwidth"}}}},"path":"native",)"
        R"("verdict":"pass"}}}})"
        "\n",
        device, id);
  }
  return text + fmt::format(R"({{"checks":{0},"errors":0,"interrupted":false,"record":"summary",)"
                            R"("text":"Summary: {0}/{0} returned cuda tensors"}})"
                            "\n",
                            run.checks);
}

void fill_store(const std::filesystem::path& file, std::size_t runs) {
  run_store store(file, run_store::access::writing);
  for (std::size_t i = 0; i < runs; ++i) {
    const std::string text =
        result_text({.samples = 20, .seed = static_cast<std::uint32_t>(i + 1)});
    std::istringstream in(text);
    store.save("nightly", read_saved_run(in, "made"), text);
  }
}

}  // namespace assay::benchmarks
