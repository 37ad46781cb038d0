/** Concurrent writers and crashes of the server, for longer than in the quick test. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { crashes } from './registries.ts'
import { followWriters, readElsewhere } from './writers.ts'

const server = await startPostgres(t, { fsync: false })

t.test('readers of the feed receive every change once, in order', (t) => followWriters(t, server, 12))
t.test('a write is visible to all stores at once', (t) => readElsewhere(t, server, 40))
t.test('crashes of the server undo no registration, and may undo beats', (t) => crashes(t, server, 3))
