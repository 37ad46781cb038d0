/** The audit on PostgreSQL: tampering, and versions that keep none. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { inTurn } from '../in-turn.ts'
import { tampering } from '../tampering.ts'
import { databases } from './support.ts'

const server = await startPostgres(t, { fsync: false })

tampering(t, inTurn(t, databases(server)))
