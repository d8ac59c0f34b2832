// SPDX-License-Identifier: Apache-2.0
//
// For the precompiled headers of targets that link assay_platform: the members of nlohmann::json
// are compiled in json_once.cpp alone, not in every file that uses them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

extern template class nlohmann::basic_json<>;
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class std::vector<nlohmann::json>;
