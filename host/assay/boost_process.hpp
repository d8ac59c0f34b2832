// SPDX-License-Identifier: Apache-2.0
//
// Boost.Process, version 1 of its interface, under one name: it moved within Boost.
#pragma once

#if __has_include(<boost/process/v1/child.hpp>)
#include <boost/process/v1/args.hpp>
#include <boost/process/v1/child.hpp>
#include <boost/process/v1/env.hpp>
#include <boost/process/v1/environment.hpp>
#include <boost/process/v1/error.hpp>
#include <boost/process/v1/exe.hpp>
#include <boost/process/v1/group.hpp>
#include <boost/process/v1/io.hpp>
#include <boost/process/v1/pipe.hpp>
#include <boost/process/v1/search_path.hpp>
namespace assay::process {
using namespace boost::process::v1;  // NOLINT(google-build-using-namespace)
}
#else
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/environment.hpp>
#include <boost/process/error.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/group.hpp>
#include <boost/process/io.hpp>
#include <boost/process/pipe.hpp>
#include <boost/process/search_path.hpp>
namespace assay::process {
using namespace boost::process;  // NOLINT(google-build-using-namespace)
}
#endif
