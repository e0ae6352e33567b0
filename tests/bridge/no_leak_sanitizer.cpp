// Turns LeakSanitizer off in programs that embed Python: the interpreter is never finalized, so that all its
// objects would count as leaks. What the bridge itself might leak is watched by the fixture's handle counts
// and by weak references. Address and undefined-behaviour checks stay on.
// The sanitizer looks for the name among those that the program exports.
// NOLINTNEXTLINE(bugprone-reserved-identifier): it is the sanitizer's.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }
