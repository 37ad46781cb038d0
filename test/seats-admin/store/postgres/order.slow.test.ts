/** Concurrent writers of several stores: numbers without gaps, in commit order; for longer. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { followWriters, readElsewhere } from './writers.ts'

const server = await startPostgres(t, { fsync: false })

t.test('readers of the feed receive every change once, in order', (t) => followWriters(t, server, 25))

t.test('a write is visible to all stores at once', (t) => readElsewhere(t, server, 100))
