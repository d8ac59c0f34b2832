// SPDX-License-Identifier: Apache-2.0
//
// call_library FILE FUNCTION: calls int FUNCTION(void** made) of a library, and prints what it
// returns. What the library prints, and how it ends the process, is the point.
#include <boost/dll/shared_library.hpp>
#include <exception>
#include <iostream>

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: call_library FILE FUNCTION\n";
    return 2;
  }
  try {
    const boost::dll::shared_library library(
        arguments[1],
        boost::dll::load_mode::rtld_now | boost::dll::load_mode::search_system_folders);
    void* made = nullptr;
    const int answer = library.get<int(void**)>(arguments[2])(&made);
    std::cout << "returned " << answer << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "call_library: " << error.what() << '\n';
    return 2;
  }
}
