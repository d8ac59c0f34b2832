// SPDX-License-Identifier: Apache-2.0
#include "host/assay/torch_locate.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "host/assay/errors.hpp"
#include "host/assay/python_torch.hpp"
#include "temp_dir.hpp"

namespace assay {
namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
const std::string prefix, suffix = ".dll", rocm_folder = "bin";
#elif defined(__APPLE__)
const std::string prefix = "lib", suffix = ".dylib", rocm_folder = "lib";
#else
const std::string prefix = "lib", suffix = ".so", rocm_folder = "lib";
#endif

#define EXPECT_HAS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text) << "\nlacks: " << (part)

class torch_locate_test : public ::testing::Test {
 protected:
  fs::path library(const fs::path& torch, const std::string& stem) {
    return temp_.write(torch / "lib" / (prefix + stem + suffix), stem);
  }

  /// A folder that looks like a wheel's torch package.
  fs::path make_torch(const fs::path& name, const std::string& version,
                      const std::string& backend = "") {
    library(name, "c10");
    library(name, "torch_cpu");
    if (!backend.empty()) {
      library(name, backend);
    }
    temp_.write(name / "version.py",
                "from typing import Optional\n\n"
                "__all__ = ['__version__', 'cuda', 'hip']\n"
                "__version__ = '" +
                    version +
                    "'\n"
                    "cuda: Optional[str] = None\n"
                    "hip: Optional[str] = None\n");
    return temp_.path() / name;
  }

  void make_engine(const std::string& version, const std::string& built_with = "") {
    const fs::path folder = fs::path("libexec") / ("torch-" + version);
    temp_.write(folder / ("assay-engine" + suffix), "");
    if (!built_with.empty()) {
      temp_.write(folder / "built-with", built_with + "\n");
    }
  }

  /// A file on PATH that can be run.
  fs::path make_python(const fs::path& name, const std::string& text) {
    const fs::path file = temp_.write(name, text);
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }

  std::map<std::string, std::string> with_path(const fs::path& folder) const {
    return {{"PATH", (temp_.path() / folder).string()}};
  }

  engine_choice choose(const std::map<std::string, std::string>& variables = {}) {
    return choose_engine(std::nullopt, temp_.path() / "libexec", variables);
  }

  template <typename Error, typename Function>
  std::string error_of(Function function) {
    try {
      function();
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      return text;
    }
    return "no error";
  }

  testing::temp_dir temp_;
};

TEST_F(torch_locate_test, every_way_to_name_a_torch) {
  const fs::path torch = make_torch("venv/lib/python3.12/site-packages/torch", "2.11.0+cpu");
  for (const fs::path& named : {torch, torch / "lib", torch / "lib/", torch.parent_path(),
                                temp_.path() / "venv", temp_.path() / "venv/"}) {
    const torch_install found = inspect_torch(named, "--torch");
    EXPECT_EQ(found.dir, torch) << named;
    EXPECT_EQ(found.version, "2.11.0+cpu");
    EXPECT_EQ(found.build, "cpu");
    EXPECT_FALSE(found.backend);
    EXPECT_EQ(found.found_by, "--torch");
    ASSERT_EQ(found.libraries.size(), 2u);
    EXPECT_EQ(found.libraries[0], torch / "lib" / (prefix + "c10" + suffix));
    EXPECT_EQ(found.libraries[1], torch / "lib" / (prefix + "torch_cpu" + suffix));
  }
}

TEST_F(torch_locate_test, a_folder_without_libtorch_is_one_line) {
  temp_.make_dir("empty/lib");
  const std::string error =
      error_of<usage_error>([&] { inspect_torch(temp_.path() / "empty", "ASSAY_TORCH"); });
  EXPECT_HAS(error, "no LibTorch in " + (temp_.path() / "empty").string() + " (ASSAY_TORCH)");
  EXPECT_HAS(error, "name the folder of the torch package");
}

TEST_F(torch_locate_test, incomplete_ones_say_what_is_missing) {
  library("a", "torch_cpu");
  EXPECT_HAS(error_of<usage_error>([&] { inspect_torch(temp_.path() / "a", "--torch"); }),
             "does not tell its version");
  temp_.write("a/build-version", "2.11.0\n");
  EXPECT_HAS(error_of<usage_error>([&] { inspect_torch(temp_.path() / "a", "--torch"); }),
             "has no usable " + prefix + "c10");
}

TEST_F(torch_locate_test, version_from_headers_or_build_version) {
  const fs::path torch = make_torch("t", "2.9.0");
  fs::remove(torch / "version.py");
  temp_.write("t/build-version", "2.8.1+cu128\n");
  EXPECT_EQ(inspect_torch(torch, "--torch").version, "2.8.1+cu128");
  temp_.write("t/include/torch/csrc/api/include/torch/version.h",
              "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 6\n"
              "#define TORCH_VERSION_PATCH 1\n");
  EXPECT_EQ(inspect_torch(torch, "--torch").version, "2.6.1");
  temp_.write("t/include/torch/headeronly/version.h",
              "/// major\n#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 15\n"
              "#define TORCH_VERSION_PATCH 0\n");
  EXPECT_EQ(inspect_torch(torch, "--torch").version, "2.15.0");
  temp_.write("t/version.py", "__version__ = \"2.16.0a0+git123\"\n");
  EXPECT_EQ(inspect_torch(torch, "--torch").version, "2.16.0a0+git123");
}

TEST_F(torch_locate_test, builds) {
  const fs::path cuda = make_torch("site/cuda/torch", "2.11.0", "torch_cuda");
  EXPECT_EQ(inspect_torch(cuda, "--torch").build, "cuda");
  EXPECT_EQ(inspect_torch(cuda, "--torch").backend,
            cuda / "lib" / (prefix + "torch_cuda" + suffix));
  const fs::path rocm = make_torch("site/rocm/torch", "2.11.0+rocm7.2", "torch_hip");
  EXPECT_EQ(inspect_torch(rocm, "--torch").build, "rocm");
  EXPECT_EQ(inspect_torch(rocm, "--torch").backend, rocm / "lib" / (prefix + "torch_hip" + suffix));
  EXPECT_TRUE(inspect_torch(rocm, "--torch").library_dirs.empty());
  // Both libraries: version.py decides.
  library("site/rocm/torch", "torch_cuda");
  EXPECT_EQ(inspect_torch(rocm, "--torch").build, "cuda");
  temp_.write("site/rocm/torch/version.py",
              "__version__ = '2.11.0'\nhip: Optional[str] = '7.2.53211'\n");
  EXPECT_EQ(inspect_torch(rocm, "--torch").build, "rocm");
}

TEST_F(torch_locate_test, rocm_wheels_bring_their_library_folders) {
  const fs::path torch = make_torch("site/torch", "2.11.0", "torch_hip");
  const fs::path core = temp_.make_dir("site/_rocm_sdk_core/" + rocm_folder);
  const fs::path libraries = temp_.make_dir("site/_rocm_sdk_libraries_gfx110X/" + rocm_folder);
  temp_.make_dir("site/_rocm_sdk_libraries_broken");
  temp_.make_dir("site/unrelated/" + rocm_folder);
  EXPECT_EQ(inspect_torch(torch, "--torch").library_dirs, (std::vector<fs::path>{core, libraries}));
}

TEST_F(torch_locate_test, links_lead_to_the_one_copy) {
  const fs::path real = make_torch("real/torch", "2.11.0");
  temp_.make_dir("linked/lib");
  std::error_code error;
  for (const char* stem : {"c10", "torch_cpu"}) {
    const std::string name = prefix + stem + suffix;
    fs::create_symlink(real / "lib" / name, temp_.path() / "linked/lib" / name, error);
  }
  if (error) {
    GTEST_SKIP() << "no links here: " << error.message();
  }
  library("linked", "torch_hip");
  temp_.write("linked/build-version", "2.11.0\n");
  const torch_install found = inspect_torch(temp_.path() / "linked", "--torch");
  EXPECT_EQ(found.dir, temp_.path() / "linked");
  EXPECT_EQ(found.libraries[0], real / "lib" / (prefix + "c10" + suffix));
  EXPECT_EQ(found.libraries[1], real / "lib" / (prefix + "torch_cpu" + suffix));
  EXPECT_EQ(found.backend, temp_.path() / "linked/lib" / (prefix + "torch_hip" + suffix));
  EXPECT_EQ(found.build, "rocm");
}

TEST_F(torch_locate_test, engines_newest_first) {
  make_engine("2.9");
  make_engine("2.11", "/somewhere/torch");
  make_engine("2.10");
  temp_.make_dir("libexec/torch-2.12");  // no library in it
  temp_.write("libexec/torch-x/assay-engine" + suffix, "");
  const auto engines = installed_engines(temp_.path() / "libexec");
  ASSERT_EQ(engines.size(), 3u);
  EXPECT_EQ(engines[0].torch_version, "2.11");
  EXPECT_EQ(engines[0].built_with, "/somewhere/torch");
  EXPECT_EQ(engines[1].torch_version, "2.10");
  EXPECT_FALSE(engines[1].built_with);
  EXPECT_EQ(engines[2].torch_version, "2.9");
  EXPECT_TRUE(installed_engines(temp_.path() / "nowhere").empty());
}

TEST_F(torch_locate_test, the_torch_that_was_asked_for) {
  make_engine("2.11");
  const fs::path torch = make_torch("t/torch", "2.11.1+cu130");
  const auto libexec = temp_.path() / "libexec";
  const engine_choice choice = choose_engine(torch_request{torch, "--torch"}, libexec, {});
  EXPECT_EQ(choice.torch.dir, torch);
  EXPECT_EQ(choice.engine, libexec / "torch-2.11" / ("assay-engine" + suffix));
  make_engine("2.9");
  const fs::path newer = make_torch("n/torch", "2.13.0");
  EXPECT_EQ(error_of<tool_error>([&] {
              choose_engine(torch_request{newer, "--torch"}, libexec, {});
            }),
            "no engine for LibTorch 2.13.0 (" + newer.string() + ", --torch); tools/build-engine " +
                newer.string() + " makes one; have: 2.11, 2.9");
  EXPECT_NE(error_of<usage_error>([&] {
              choose_engine(torch_request{temp_.path() / "libexec", "--torch"}, libexec, {});
            }),
            "no error");
}

TEST_F(torch_locate_test, an_environment_without_engine_is_an_error) {
  const fs::path own = make_torch("own/torch", "2.11.0");
  make_engine("2.11", own.string());
  const fs::path torch = make_torch("venv/lib/python3.12/site-packages/torch", "2.13.0");
  const std::string error = error_of<tool_error>([&] {
    choose({{"VIRTUAL_ENV", (temp_.path() / "venv").string()}});
  });
  EXPECT_HAS(error, "no engine for LibTorch 2.13.0 (" + torch.string() +
                        ", the active Python environment)");
  EXPECT_HAS(error, "--torch DIR picks another LibTorch");
  EXPECT_HAS(error, "have: 2.11");
}

TEST_F(torch_locate_test, a_broken_environment_is_not_passed_over) {
  make_engine("2.11", make_torch("own/torch", "2.11.0").string());
  temp_.write("venv/lib/python3.12/site-packages/torch/version.py", "__version__ = '2.11.0'\n");
  const std::string error = error_of<tool_error>([&] {
    choose({{"VIRTUAL_ENV", (temp_.path() / "venv").string()}});
  });
  EXPECT_HAS(error, "no LibTorch in ");
  EXPECT_HAS(error, "--torch DIR");
}

TEST_F(torch_locate_test, the_engines_own_torch_comes_last) {
  make_engine("2.12", (temp_.path() / "gone").string());
  const fs::path own = make_torch("own/torch", "2.11.0");
  make_engine("2.11", own.string());
  const engine_choice choice = choose();
  EXPECT_EQ(choice.torch.dir, own);
  EXPECT_EQ(choice.torch.found_by, "the engine's own");
  EXPECT_EQ(choice.engine, temp_.path() / "libexec/torch-2.11" / ("assay-engine" + suffix));
}

TEST_F(torch_locate_test, nothing_at_all) {
  const std::string error = error_of<tool_error>([&] { choose(); });
  EXPECT_HAS(error, "no LibTorch found: ");
  EXPECT_HAS(error, "tools/run installs one, or --torch DIR names one");
}

TEST_F(torch_locate_test, virtual_environment_before_conda) {
  const fs::path venv = make_torch("venv/lib/python3.12/site-packages/torch", "2.11.0");
  const fs::path conda = make_torch("conda/lib/python3.11/site-packages/torch", "2.11.0");
  std::map<std::string, std::string> variables = {
      {"CONDA_PREFIX", (temp_.path() / "conda").string()}};
  EXPECT_EQ(active_python_torch(variables), conda);
  variables["VIRTUAL_ENV"] = (temp_.path() / "venv").string();
  EXPECT_EQ(active_python_torch(variables), venv);
  variables["VIRTUAL_ENV"] = (temp_.path() / "empty").string();
  EXPECT_EQ(active_python_torch(variables), std::nullopt);  // conda's is not the active one
}

TEST_F(torch_locate_test, windows_layout) {
  const fs::path torch = make_torch("conda/Lib/site-packages/torch", "2.11.0");
  EXPECT_EQ(torch_in_prefix(temp_.path() / "conda"), torch);
}

TEST_F(torch_locate_test, the_newest_python_of_a_prefix_or_the_one_asked_for) {
  const fs::path older = make_torch("p/lib/python3.9/site-packages/torch", "2.8.0");
  const fs::path newer = make_torch("p/lib/python3.12/site-packages/torch", "2.11.0");
  EXPECT_EQ(torch_in_prefix(temp_.path() / "p"), newer);
  EXPECT_EQ(torch_in_prefix(temp_.path() / "p", "3.9"), older);
  EXPECT_EQ(torch_in_prefix(temp_.path() / "p", "3.11"), std::nullopt);
}

TEST_F(torch_locate_test, what_uninstalling_leaves_behind_is_no_torch) {
  temp_.write("p/lib/python3.12/site-packages/torch/__pycache__/version.pyc", "");
  EXPECT_EQ(torch_in_prefix(temp_.path() / "p"), std::nullopt);
}

TEST_F(torch_locate_test, python_path_wins) {
  const fs::path torch = make_torch("extra/torch", "2.11.0");
  make_torch("venv/lib/python3.12/site-packages/torch", "2.10.0");
  EXPECT_EQ(active_python_torch({{"PYTHONPATH", (temp_.path() / "extra").string()},
                                 {"VIRTUAL_ENV", (temp_.path() / "venv").string()}}),
            torch);
}

#ifndef _WIN32
// The rest makes programs and links as they lie on POSIX systems.

TEST_F(torch_locate_test, python_on_the_path_of_a_virtual_environment) {
  const fs::path torch = make_torch("venv/lib/python3.12/site-packages/torch", "2.11.0");
  make_torch("usr/lib/python3.12/site-packages/torch", "2.5.0");
  const fs::path real = make_python("usr/bin/python3.12",
                                    "\x7f"
                                    "ELF");
  temp_.write("venv/pyvenv.cfg", "include-system-site-packages = false\n");
  temp_.make_dir("venv/bin");
  fs::create_symlink(real, temp_.path() / "venv/bin/python3");
  EXPECT_EQ(active_python_torch(with_path("venv/bin")), torch);
}

TEST_F(torch_locate_test, a_virtual_environment_without_torch_has_none) {
  make_torch("usr/lib/python3.12/site-packages/torch", "2.5.0");
  const fs::path real = make_python("usr/bin/python3.12",
                                    "\x7f"
                                    "ELF");
  temp_.write("venv/pyvenv.cfg", "include-system-site-packages = false\n");
  temp_.make_dir("venv/bin");
  fs::create_symlink(real, temp_.path() / "venv/bin/python3");
  EXPECT_EQ(active_python_torch(with_path("venv/bin")), std::nullopt);
}

TEST_F(torch_locate_test, a_system_python_and_its_version) {
  make_torch("usr/lib/python3.13/site-packages/torch", "2.12.0");
  const fs::path torch = make_torch("usr/lib/python3.11/dist-packages/torch", "2.11.0");
  const fs::path real = make_python("usr/bin/python3.11",
                                    "\x7f"
                                    "ELF");
  fs::create_symlink(real, temp_.path() / "usr/bin/python3");
  auto variables = with_path("usr/bin");
  EXPECT_EQ(active_python_torch(variables), torch);
  const fs::path local = make_torch("usr/local/lib/python3.11/dist-packages/torch", "2.11.0");
  EXPECT_EQ(active_python_torch(variables), local);
  const fs::path user = make_torch("home/.local/lib/python3.11/site-packages/torch", "2.11.0");
  variables["HOME"] = (temp_.path() / "home").string();
  EXPECT_EQ(active_python_torch(variables), user);
  variables["PYTHONNOUSERSITE"] = "1";
  EXPECT_EQ(active_python_torch(variables), local);
}

TEST_F(torch_locate_test, a_link_on_the_path_to_a_python_elsewhere) {
  const fs::path torch = make_torch("opt/lib/python3.12/site-packages/torch", "2.11.0");
  const fs::path real = make_python("opt/bin/python3.12",
                                    "\x7f"
                                    "ELF");
  temp_.make_dir("local/bin");
  fs::create_symlink(real, temp_.path() / "local/bin/python3");
  EXPECT_EQ(active_python_torch(with_path("local/bin")), torch);
}

TEST_F(torch_locate_test, a_shim_is_asked) {
  const fs::path torch = make_torch("real/torch", "2.11.0");
  make_python("shims/python3",
              "#!/bin/sh\necho a warning >&2\necho noise\necho '" + torch.string() + "'\n");
  EXPECT_EQ(active_python_torch(with_path("shims")), torch);
  make_python("shims/python3", "#!/bin/sh\necho\n");
  EXPECT_EQ(active_python_torch(with_path("shims")), std::nullopt);
  make_python("shims/python3", "#!/nonexistent/interpreter\n");
  EXPECT_EQ(active_python_torch(with_path("shims")), std::nullopt);
}

TEST_F(torch_locate_test, a_virtual_environment_that_sees_the_system_is_asked) {
  const fs::path torch = make_torch("real/torch", "2.11.0");
  temp_.write("venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\n");
  make_python("venv/bin/python3", "#!/bin/sh\necho '" + torch.string() + "'\n");
  EXPECT_EQ(active_python_torch(with_path("venv/bin")), torch);
}

TEST_F(torch_locate_test, a_shim_that_hangs_is_given_up) {
  make_python("shims/python3", "#!/bin/sh\n/bin/sleep 30\n");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(active_python_torch(with_path("shims"), std::chrono::milliseconds(200)), std::nullopt);
  make_python("shims/python3", "#!/bin/sh\nexec >&- 2>&-\n/bin/sleep 30\n");
  EXPECT_EQ(active_python_torch(with_path("shims"), std::chrono::milliseconds(200)), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST_F(torch_locate_test, what_cannot_be_run_is_not_on_the_path) {
  make_torch("usr/lib/python3.11/site-packages/torch", "2.11.0");
  temp_.write("usr/bin/python3",
              "\x7f"
              "ELF");
  EXPECT_EQ(active_python_torch(with_path("usr/bin")), std::nullopt);
}
#endif

}  // namespace
}  // namespace assay
