#pragma once
/// A test case that hangs says where, and ends its program, before the time that ctest gives to the program is over.

#include <functional>

namespace tartan::test {

/// What else is to be told of the case that runs, to standard error; until it ends. It is called where the case hangs, from a signal's handler:
/// the program is lost by then.
void tell_if_it_hangs(std::function<void()> what);

}  // namespace tartan::test
