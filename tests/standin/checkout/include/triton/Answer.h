#pragma once

namespace triton {

// The number that the tests look for in a built wheel.
int answer();

} // namespace triton
