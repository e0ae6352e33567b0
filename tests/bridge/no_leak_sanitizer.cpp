// Turns LeakSanitizer off in programs that embed Python: the interpreter is never finalized, so that all its
// objects would count as leaks. What the bridge itself might leak is watched by the fixture's handle counts
// and by weak references. Address and undefined-behaviour checks stay on.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer looks for this name.
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }
