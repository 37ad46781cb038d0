/*
 * The protocol of src/coherence/lease.ts, for Spin. Each rule below is one step of a process or of the store; between any
 * two rules any other may happen, so a process that takes no step for any time is frozen.
 *
 * Time. `tick` is the only step that takes time. A lease lasts LEASE ticks, and a writer waits WAIT ticks: the clock of the
 * writer is a quarter faster than that of the lease, so LEASE + MARGIN by the former are LEASE by the latter. Timers are
 * never early and may be late. A lease may be taken as over at any time, as a faster clock would have it.
 *
 * Messages. An announcement can arrive once it was sent: never, late, often, in any order. So the model has no
 * messages between instances, only the fact that one was sent. The channel to a worker has QUEUE readings in order.
 *
 * Positions. Each write is one position of the feed, and changes a set of keys. The value of a key is the number of the
 * write that made it; 0 is the value before all.
 *
 * Instance i has one worker, which decides. The explored instances are a writer (0), which does nothing else, and one that
 * writes, reads and decides (1): nothing else that a writer does has an effect on others.
 */

#include "state.pml"
#include "writing.pml"
#ifndef TABLES
#define arrive(i, w) skip
#define forgetTables(i) skip
#endif
#include "reading.pml"
#include "deciding.pml"
#ifdef TABLES
#include "tables.pml"
#endif
#ifdef CUTTING
#include "cutting.pml"
#endif
#ifdef TRACE
#include "replay.pml"
#else
#include "exploring.pml"
#endif
