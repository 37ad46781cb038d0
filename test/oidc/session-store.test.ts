/** The conformance suite of session stores, run against the reference. Drivers run it against real databases. */

import t from 'tap'
import { MemorySessions } from './memory-sessions.ts'
import { sessionStoreConformance } from '../seats-admin/store/session-conformance.ts'

sessionStoreConformance(t, async () => ({ sessions: new MemorySessions(), feed: null }))
