/** The list of instances, with repeated crashes of the server. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { crashes } from './registries.ts'

const server = await startPostgres(t)

t.test('crashes of the server undo no registration, and may undo beats', (t) => crashes(t, server, 5))
