/** Route tables in PostgreSQL, which several instances use. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { inTurn } from '../in-turn.ts'
import { tablesTogether } from '../tables-together.ts'
import { databases } from './support.ts'

const server = await startPostgres(t, { fsync: false })
tablesTogether(t, inTurn(t, databases(server, 2)))
