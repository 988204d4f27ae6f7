// main() of every test program: GoogleTest's, and the stack of a test that crashes.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace {

/// Writes the stack to standard error, then raises the signal again without a handler. Calls only functions that are
/// safe in a handler: backtrace() was called before, so that it loads nothing.
void print_stack(int signal) {
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  constexpr char kTitle[] = "\nThe test program crashed. Its stack (c++filt shows plain names):\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, kTitle, sizeof kTitle - 1);
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  ::raise(signal);  // SA_RESETHAND has removed this handler
}

/// The handler has a stack of its own, because a test may have used up the ordinary one.
void show_crashes() {
  static std::array<char, 256 * 1024> stack;
  const stack_t own{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  ::sigaltstack(&own, nullptr);
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);
  struct sigaction action {};
  action.sa_handler = &print_stack;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_DFL) ::sigaction(signal, &action, nullptr);  // else a sanitizer has its own
  }
}

}  // namespace

int main(int argc, char** argv) {
  show_crashes();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
