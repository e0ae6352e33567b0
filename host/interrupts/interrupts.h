// The owner of SIGINT in the host: one handler, one state, one transition table.
//
// The table is in abi/interrupt_transitions.h. This component holds the state of Simple and of the mark; the
// bridge holds the state of Python and is a client (SplInterruptClient). The handler reads both, evaluates
// the table, and performs the actions. In an embedded host, Python's process owns SIGINT: the handler is then
// installed only while a loop polls the mark.
#pragma once

#include "simple_torch/spl_runtime.h"

namespace spl {

/// Installs the handler; called once, by main().
void install_interrupt_handler();

/// Asks Simple to stop at the next safepoint of a thread that may be interrupted. Async-signal-safe. False
/// when an earlier request is pending.
bool request_interrupt();
bool is_interrupt_requested();
/// Ends the request: the calling thread stops. False without a request.
bool take_interrupt();

/// From here to unwatch_interrupt_mark() a first SIGINT only sets the mark, and a second ends the process.
/// The calls are counted, so that loops may nest or run in parallel. An ignored SIGINT stays ignored. The
/// caller holds the host lock, here and below.
void watch_interrupt_mark();
void unwatch_interrupt_mark();
/// Whether SIGINT arrived since. Installs the handler again if other code has replaced it.
bool is_interrupt_mark_set();

/// The service for a client, the bridge.
const SplInterruptService* interrupt_service();

}  // namespace spl
