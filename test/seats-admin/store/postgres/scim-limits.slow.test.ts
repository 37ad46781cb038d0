import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { inTurn } from '../in-turn.ts'
import { scimLimits } from '../scim-limits.ts'
import { databases } from './support.ts'

const server = await startPostgres(t, { fsync: false })
scimLimits(t, inTurn(t, databases(server)))
