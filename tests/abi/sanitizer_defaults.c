/* What the sanitizers must know of LibTorch, for the programs that use it. They ask for these by name;
 * without sanitizers nobody does. */
/* A request that is too large fails with NULL, as malloc does, so that OUT_OF_MEMORY can be tested. */
const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "allocator_may_return_null=1"; }

/* LibTorch keeps a few objects until the process ends. Leaks of ours are seen still. */
const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
  return "leak:libtorch_cuda.so\nleak:libtorch_cpu.so\nleak:libc10.so\n";
}
