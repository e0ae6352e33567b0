// Disables LeakSanitizer in programs that embed Python: the interpreter is never finalized, so its objects
// would count as leaks. The fixture's handle counts and weak references check the bridge. The address and
// undefined-behavior checks stay on. The sanitizer looks up the exported function.
// NOLINTNEXTLINE(bugprone-reserved-identifier): it is the sanitizer's.
extern "C" __attribute__((visibility("default"))) int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return 1; }
