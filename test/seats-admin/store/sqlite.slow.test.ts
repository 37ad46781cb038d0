/** The embedded driver conforms. */

import t from 'tap'
import { conforms } from './every-conformance.ts'
import { inTurn } from './in-turn.ts'
import { databases } from './sqlite/support.ts'

t.jobs = 2
const database = inTurn(t, databases())
conforms(t, async (t) => (await database(t)).store)
