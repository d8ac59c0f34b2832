# SPDX-License-Identifier: Apache-2.0
# `cpack` in the build tree makes a .tar.gz that runs where it is unpacked and, on Debian's kin, a
# .deb. tools/package does so with -DASSAY_STATIC_DEPENDENCIES=ON and says what is still needed.
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "assay project")
set(CPACK_PACKAGE_CONTACT "assay project" CACHE STRING "who maintains the packages: NAME <ADDRESS>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "checks PyTorch's operators on this machine")
set(CPACK_PACKAGE_DESCRIPTION "Runs PyTorch's operators on a device one by one, shows for each one\n\
whether it ran there, is right and is fast, and explains failures. It needs a\n\
PyTorch or LibTorch, and an engine for its version.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_VERSION_MAJOR ${PROJECT_VERSION_MAJOR})
set(CPACK_PACKAGE_VERSION_MINOR ${PROJECT_VERSION_MINOR})
set(CPACK_PACKAGE_VERSION_PATCH ${PROJECT_VERSION_PATCH})
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
# The component `built_with` names folders of the machine that builds.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};assay;assay;/")
# cpack does what the umask says unless it is told; assay is strict about it.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})

# What is linked into the programs, or brought along, comes with its licence; Boost's asks for none
# beside programs.
if(ASSAY_STATIC_DEPENDENCIES AND EXISTS /etc/debian_version)
  foreach(name IN ITEMS libfmt-dev libmuparser-dev libsimdjson-dev libsodium-dev libsqlite3-dev
      libsqlitecpp-dev libtomlplusplus-dev nlohmann-json3-dev zlib1g-dev)
    set(notice /usr/share/doc/${name}/copyright)
    if(EXISTS ${notice})
      install(FILES ${notice} DESTINATION share/doc/assay/third-party RENAME ${name})
    else()
      message(WARNING "the packages lack ${notice}, the licence of what they bring")
    endif()
  endforeach()
endif()

set(CPACK_GENERATOR TGZ)
find_program(ASSAY_DPKG_DEB dpkg-deb)
find_program(ASSAY_DPKG_SHLIBDEPS dpkg-shlibdeps)
if(ASSAY_DPKG_DEB AND ASSAY_DPKG_SHLIBDEPS)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_SYSTEM_NAME ${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
# Read by cpack, when all engines are there.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package_options.cmake)
configure_file(cmake/package_options.cmake.in package_options.cmake @ONLY)
include(CPack)
