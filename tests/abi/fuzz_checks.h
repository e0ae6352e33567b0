/* Checks of one call for fuzz_all.c. */
#ifndef TESTS_ABI_FUZZ_CHECKS_H_
#define TESTS_ABI_FUZZ_CHECKS_H_

#include "tests/abi/fuzz_arguments.h"

/* Calls the function, checks what it wrote and returned, keeps new handles and frees the rest. Reports each
 * fault by `report`. Returns the status of the call. */
int32_t fuzz_check_call(FuzzCall* call, void (*report)(const FuzzCall* call, const char* fault));

/* The number of live handles. */
int64_t fuzz_live_handles(void);

#endif /* TESTS_ABI_FUZZ_CHECKS_H_ */
