// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "diag_rocm/data_probes.hpp"
#include "diag_rocm/library_data.hpp"
#include "library_tree.hpp"

namespace {

using assay::probe_state;
using diag_rocm::read_miopen_name;
using diag_rocm::testing::findings;
using diag_rocm::testing::library_tree;
using diag_rocm::testing::value_named;

assay::probe_answer ask(const library_tree& tree, const std::string& id) {
  for (const auto& probe : diag_rocm::data_probes(tree.source())) {
    if (probe->id() == id) {
      return probe->look(tree.site());
    }
  }
  throw std::invalid_argument(id);
}

/// A rocBLAS as it lies in a wheel, with tuned kernels for one target.
void add_rocblas(const library_tree& tree, const std::string& target,
                 const std::string& folder = "/py/torch/lib") {
  tree.write(folder + "/librocblas.so");
  const std::string data = folder + "/rocblas/library/";
  tree.write(data + "TensileLibrary_lazy_" + target + ".dat");
  tree.write(data + "Kernels.so-000-" + target + ".hsaco");
  tree.write(data + "TensileLibrary_Type_SS_Contraction_l_Ailk_" + target + ".hsaco");
  tree.write(data + "TensileLibrary_Type_SS_Contraction_l_Ailk_fallback_" + target + ".hsaco");
  tree.write(data + "TensileLibrary_Type_SS_Contraction_l_Ailk_fallback.dat");
}

TEST(library_data, names_of_files) {
  using diag_rocm::architecture_in;
  EXPECT_EQ(architecture_in("Kernels.so-000-gfx90a-xnack+.hsaco"), "gfx90a");
  EXPECT_EQ(architecture_in("TensileLibrary_lazy_gfx1032.dat"), "gfx1032");
  EXPECT_EQ(architecture_in("TensileLibrary_Type_SS_fallback.dat"), "");
  EXPECT_EQ(architecture_in("gfx"), "");

  EXPECT_EQ(read_miopen_name("gfx90a68.HIP.fdb.txt").architecture, "gfx90a");
  EXPECT_EQ(read_miopen_name("gfx90a68.HIP.fdb.txt").compute_units, 104U);
  EXPECT_EQ(read_miopen_name("gfx90878.db.txt").architecture, "gfx908");
  EXPECT_EQ(read_miopen_name("gfx90878.db.txt").compute_units, 120U);
  EXPECT_EQ(read_miopen_name("gfx942e4.db").compute_units, 228U);
  EXPECT_EQ(read_miopen_name("gfx1030_36.HIP.fdb.txt").architecture, "gfx1030");
  EXPECT_EQ(read_miopen_name("gfx1030_36.HIP.fdb.txt").compute_units, 36U);
  EXPECT_EQ(read_miopen_name("gfx942.tn.model").architecture, "gfx942");
  EXPECT_EQ(read_miopen_name("gfx942.tn.model").compute_units, 0U);
  EXPECT_EQ(read_miopen_name("gfx908_metadata.tn.model").architecture, "gfx908");
  EXPECT_EQ(read_miopen_name("miopen.db").architecture, "");
}

TEST(library_data, rocblas_of_a_wheel) {
  const library_tree tree;
  add_rocblas(tree, "gfx1032");
  const auto answer = ask(tree, "rocm.rocblas_data");
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_EQ(answer.findings, findings{});
  EXPECT_EQ(value_named(answer, "folder"), "/py/torch/lib/rocblas/library");
  EXPECT_EQ(value_named(answer, "targets"), "gfx1032");
}

TEST(library_data, rocblas_lacks_the_target) {
  const library_tree tree;
  add_rocblas(tree, "gfx1030");
  add_rocblas(tree, "gfx90a");
  // Kernels without an index are as good as none.
  tree.write("/py/torch/lib/rocblas/library/Kernels.so-000-gfx1032.hsaco");
  const auto answer = ask(tree, "rocm.rocblas_data");
  EXPECT_EQ(answer.state, probe_state::no) << answer.fact;
  EXPECT_EQ(answer.findings, findings{"ROCM-ROCBLAS-NO-TARGET"});
  EXPECT_EQ(value_named(answer, "targets"), "gfx1030, gfx90a");
  EXPECT_NE(answer.fact.find("no index"), std::string::npos) << answer.fact;
}

TEST(library_data, features_of_a_target_do_not_matter) {
  const library_tree tree("gfx90a:sramecc+:xnack-");
  add_rocblas(tree, "gfx90a");
  EXPECT_EQ(ask(tree, "rocm.rocblas_data").state, probe_state::yes);
}

TEST(library_data, rocblas_with_fallbacks_only) {
  const library_tree tree("gfx1010");
  tree.write("/opt/rocm/lib/librocblas.so.4");
  const std::string data = "/opt/rocm/lib/rocblas/library/";
  tree.write(data + "TensileLibrary_lazy_gfx1010.dat");
  tree.write(data + "TensileLibrary_Type_SS_Contraction_l_Ailk_fallback_gfx1010.hsaco");
  const auto answer = ask(tree, "rocm.rocblas_data");
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_EQ(answer.findings, findings{"ROCM-ROCBLAS-FALLBACK-ONLY"});
}

TEST(library_data, rocblas_of_older_releases) {
  const library_tree tree;
  tree.write("/opt/rocm-5.0.0/lib/librocblas.so.0");
  tree.write("/opt/rocm-5.0.0/lib/library/TensileLibrary_gfx1032.dat");
  EXPECT_EQ(ask(tree, "rocm.rocblas_data").state, probe_state::yes);
}

TEST(library_data, rocblas_without_its_folder) {
  const library_tree tree;
  tree.write("/py/torch/lib/librocblas.so");
  const auto answer = ask(tree, "rocm.rocblas_data");
  EXPECT_EQ(answer.state, probe_state::no) << answer.fact;
  EXPECT_EQ(answer.findings, findings{"ROCM-ROCBLAS-NO-FOLDER"});
}

TEST(library_data, a_variable_names_the_folder) {
  library_tree tree;
  add_rocblas(tree, "gfx1032");
  tree.write("/other/TensileLibrary_lazy_gfx1030.dat");
  tree.variables["ROCBLAS_TENSILE_LIBPATH"] = "/other";
  EXPECT_EQ(ask(tree, "rocm.rocblas_data").findings, findings{"ROCM-ROCBLAS-NO-TARGET"});
  tree.variables["ROCBLAS_TENSILE_LIBPATH"] = "/gone";
  const auto answer = ask(tree, "rocm.rocblas_data");
  EXPECT_EQ(answer.findings, findings{"ROCM-ROCBLAS-NO-FOLDER"});
  EXPECT_EQ(answer.evidence, findings{"ROCBLAS_TENSILE_LIBPATH=/gone"});
}

TEST(library_data, libtorchs_own_comes_before_the_systems) {
  const library_tree tree;
  add_rocblas(tree, "gfx1030");
  add_rocblas(tree, "gfx1032", "/opt/rocm/lib");
  EXPECT_EQ(ask(tree, "rocm.rocblas_data").state, probe_state::no);
}

TEST(library_data, rocms_python_packages) {
  const library_tree tree;
  add_rocblas(tree, "gfx1032", "/py/_rocm_sdk_libraries_gfx103x/lib");
  EXPECT_EQ(ask(tree, "rocm.rocblas_data").state, probe_state::yes);
}

TEST(library_data, two_gpus_of_which_one_lacks_files) {
  library_tree tree("");
  add_rocblas(tree, "gfx1032");
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  for (const auto& [node, version] : {std::pair{"1", "100302"}, {"2", "100306"}}) {
    tree.write(nodes + node + "/gpu_id", "77\n");
    tree.write(nodes + node + "/properties",
               "simd_count 64\ngfx_target_version " + std::string(version) + "\n");
  }
  const auto answer = ask(tree, "rocm.rocblas_data");
  EXPECT_EQ(answer.state, probe_state::no);
  EXPECT_NE(answer.fact.find("none for gfx1036"), std::string::npos) << answer.fact;
  tree.variables["HIP_VISIBLE_DEVICES"] = "0";
  EXPECT_EQ(ask(tree, "rocm.rocblas_data").state, probe_state::yes);
}

TEST(library_data, nothing_to_judge_by) {
  const library_tree tree;
  for (const char* id : {"rocm.rocblas_data", "rocm.hipblaslt_data", "rocm.miopen_data"}) {
    EXPECT_EQ(ask(tree, id).state, probe_state::unknown);
  }
  const library_tree without_gpu("");
  add_rocblas(without_gpu, "gfx1032");
  const auto answer = ask(without_gpu, "rocm.rocblas_data");
  EXPECT_EQ(answer.state, probe_state::unknown);
  EXPECT_NE(answer.fact.find("gfx1032"), std::string::npos);
}

TEST(library_data, hipblaslt) {
  const auto of = [](const std::string& architecture, const diag_rocm::environment& variables) {
    library_tree tree(architecture);
    tree.variables = variables;
    tree.write("/py/torch/lib/libhipblaslt.so");
    tree.write("/py/torch/lib/hipblaslt/library/TensileLibrary_lazy_gfx1100.dat");
    tree.write("/py/torch/lib/hipblaslt/library/gfx1201/TensileLibrary_lazy_gfx1201.dat");
    return ask(tree, "rocm.hipblaslt_data");
  };
  EXPECT_EQ(of("gfx1100", {}).state, probe_state::yes);
  EXPECT_EQ(of("gfx1201", {}).state, probe_state::yes);
  // LibTorch does not go there with this GPU, unless it is told to.
  EXPECT_EQ(of("gfx1032", {}).state, probe_state::no);
  EXPECT_EQ(of("gfx1032", {}).findings, findings{});
  EXPECT_EQ(of("gfx1032", {{"TORCH_BLAS_PREFER_HIPBLASLT", "1"}}).findings,
            findings{"ROCM-HIPBLASLT-NO-TARGET"});
  EXPECT_EQ(of("gfx942", {}).findings, findings{"ROCM-HIPBLASLT-NO-TARGET"});
}

TEST(library_data, miopen) {
  library_tree tree("gfx1030");
  tree.write("/py/torch/lib/libMIOpen.so");
  tree.write("/py/torch/share/miopen/db/gfx1030_36.HIP.fdb.txt");
  tree.write("/py/torch/share/miopen/db/gfx942130.db.txt");
  const auto answer = ask(tree, "rocm.miopen_data");
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_EQ(value_named(answer, "targets"), "gfx1030, gfx942");
  tree.site().architecture = "gfx1032";
  const auto without = ask(tree, "rocm.miopen_data");
  EXPECT_EQ(without.state, probe_state::no);
  EXPECT_EQ(without.findings, findings{}) << "slower at first, but no fault";
}

TEST(library_data, miopen_tuned_for_another_size) {
  library_tree tree("");
  tree.write("/py/torch/lib/libMIOpen.so");
  tree.write("/py/torch/share/miopen/db/gfx1030_36.HIP.fdb.txt");
  const std::string node = "/sys/class/kfd/kfd/topology/nodes/1/";
  tree.write(node + "gpu_id", "77\n");
  tree.write(node + "properties", "simd_count 160\nsimd_per_cu 2\ngfx_target_version 100300\n");
  const auto answer = ask(tree, "rocm.miopen_data");
  EXPECT_EQ(answer.state, probe_state::yes) << answer.fact;
  EXPECT_NE(answer.fact.find("80 compute units"), std::string::npos) << answer.fact;
}

}  // namespace
