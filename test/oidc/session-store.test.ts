/** The conformance suite of session stores, passed by the reference. Drivers run it against the real thing. */

import t from 'tap'
import { MemorySessions } from './memory-sessions.ts'
import { sessionStoreConformance } from '../seats-admin/store/session-conformance.ts'

sessionStoreConformance(t, async () => ({ sessions: new MemorySessions(), feed: null }))
