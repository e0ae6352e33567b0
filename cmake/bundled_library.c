/* A library without functions of its own: those of the library on which it depends are found in it
   (BundledLibraries.cmake). */
extern const int simple_torch_bundled_library;
const int simple_torch_bundled_library = 0;
