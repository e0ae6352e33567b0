// Errors that no code can catch.
#pragma once

#include <string>

#include "host/values/error.h"
#include "host/values/objects.h"

namespace spl {

/// Reports an error that no code can catch, such as one in drop(): to the function of
/// set_lost_error_function(), or on stderr. Needs the host lock. Throws neither SimpleError nor ExitRequest.
void report_lost(const SimpleError& error, const std::string& where);

/// For exit() in code whose callers no exception may reach, such as drop(): ends the program. If the host is
/// embedded, reports the call as a lost error.
void report_lost_exit(const ExitRequest& request, const std::string& where);

/// The function receives a Failure and the place, and returns whether it reported the error. Takes the value.
void set_lost_error_function(Value function);

}  // namespace spl
