/* Defaults of the sanitizers for programs that use LibTorch. The sanitizers call these functions by name. */
/* A too large allocation returns NULL: OUT_OF_MEMORY can be tested, and no call fills many gigabytes. */
const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }

/* LibTorch never frees a few objects. Leaks of this project are still reported. */
const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
  return "leak:libtorch_cuda.so\nleak:libtorch_cpu.so\nleak:libc10.so\n";
}
