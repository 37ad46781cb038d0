/** Concurrent writers and crashes of the server, for longer than in the quick test. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { removeAtOnce } from './administrators.ts'
import { crashes, followTogether } from './registry.ts'
import { followWriters, readElsewhere } from './writers.ts'

const server = await startPostgres(t, { fsync: false })

t.test('readers of the feed receive every change once, in order', (t) => followWriters(t, server, 12))
t.test('a write is visible to all stores at once', (t) => readElsewhere(t, server, 40))
t.test('of concurrent removals of the last administrators by several stores, one is refused', (t) =>
  removeAtOnce(t, server, 10),
)
t.test('many instances send beats and follow at once', (t) => followTogether(t, server, 50))
t.test('crashes of the server undo no registration, and may undo beats', (t) => crashes(t, server, 3))
