/** The conformance suite of session stores, passed by the reference. Drivers run it against the real thing. */

import t from 'tap'
import { MemorySessions } from './memory-sessions.ts'
import { sessionStoreConformance } from './session-store-conformance.ts'

sessionStoreConformance(t, async () => ({ sessions: new MemorySessions(), feed: null }))
