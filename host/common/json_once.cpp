// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <vector>

template class nlohmann::basic_json<>;
template class nlohmann::detail::serializer<nlohmann::json>;
template class std::vector<nlohmann::json>;
