/** The PostgreSQL driver conforms. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { conforms } from '../every-conformance.ts'
import { inTurn } from '../in-turn.ts'
import { databases } from './support.ts'

const server = await startPostgres(t, { fsync: false })
t.jobs = 2
const database = inTurn(t, databases(server))
conforms(t, async (t) => (await database(t)).store)
