# SPDX-License-Identifier: Apache-2.0
# What others need to build against assay, in the build tree and in an installation, and the
# documents. What each target installs of itself stands beside the target.
#
# The folders are fixed: every program finds its neighbours from its own place, so that a tree can be
# moved, and so do the files below.
include(CMakePackageConfigHelpers)

set(package_dir lib/cmake/assay)
set(abi_header ${PROJECT_SOURCE_DIR}/sdk/include/assay/abi.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${abi_header})
file(STRINGS ${abi_header} numbers REGEX "^#define ASSAY_ABI_(MAJOR|MINOR) [0-9]+")
list(TRANSFORM numbers REPLACE "^#define ASSAY_ABI_[A-Z]+ ([0-9]+).*" "\\1")
list(JOIN numbers . ASSAY_ABI_VERSION)

configure_package_config_file(cmake/assayConfig.cmake.in ${package_dir}/assayConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/${package_dir}/assayConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
foreach(file IN ITEMS AssayAddPlugin.cmake join_files.cmake plugin.map)
  configure_file(cmake/${file} ${package_dir}/${file} COPYONLY)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/${package_dir}/ DESTINATION ${package_dir}
  PATTERN "assayTargets*" EXCLUDE)

install(TARGETS assay_sdk EXPORT assayTargets)
install(EXPORT assayTargets NAMESPACE assay:: DESTINATION ${package_dir})
export(EXPORT assayTargets NAMESPACE assay::
  FILE ${PROJECT_BINARY_DIR}/${package_dir}/assayTargets.cmake)

set(ASSAY_PC_INCLUDEDIR ${PROJECT_SOURCE_DIR}/sdk/include)
configure_file(cmake/assay.pc.in lib/pkgconfig/assay.pc @ONLY)
set(ASSAY_PC_INCLUDEDIR "\${prefix}/include")
configure_file(cmake/assay.pc.in installed/assay.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/installed/assay.pc DESTINATION lib/pkgconfig)

# Those for further LibTorch versions, too, which tools/build-engine has put beside the first: they are
# looked for when it is installed. `built-with` is only of use on this machine: packages leave it out.
set(engines "file(GLOB engines \"${ASSAY_LIBEXEC_DIR}/torch-*/assay-engine*\")
  foreach(engine IN LISTS engines)
    get_filename_component(folder \${engine} DIRECTORY)
    get_filename_component(name \${folder} NAME)
    file(INSTALL @FILE@ DESTINATION \${CMAKE_INSTALL_PREFIX}/libexec/assay/\${name}
      USE_SOURCE_PERMISSIONS)
  endforeach()")
string(REPLACE "@FILE@" "\${engine}" install_engines "${engines}")
string(REPLACE "@FILE@" "\${folder}/built-with" install_built_with "${engines}")
install(CODE "${install_engines}")
install(CODE "${install_built_with}" COMPONENT built_with)

install(FILES docs/result.schema.json DESTINATION share/assay)
install(DIRECTORY docs/ DESTINATION share/doc/assay
  PATTERN "result.schema.json" EXCLUDE PATTERN "measurements" EXCLUDE
  PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE DESTINATION share/doc/assay RENAME copyright)
