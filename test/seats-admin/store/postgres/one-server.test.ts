/** Stores on one server, whose start takes longer than most of the tests. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { administrators, removeAtOnce } from './administrators.ts'
import { health } from './health.ts'
import { marks } from './marks.ts'
import { followTogether, registry } from './registry.ts'
import { sessionFaults } from './session-faults.ts'
import { text } from './text.ts'
import { followWriters, readElsewhere } from './writers.ts'

const server = await startPostgres(t, { fsync: false })

t.test('of concurrent removals of the last administrators by several stores, one is refused', (t) =>
  removeAtOnce(t, server, 3),
)
administrators(t, server)
health(t, server)
marks(t, server)
text(t, server)
t.test('readers of the feed receive every change once, in order', (t) => followWriters(t, server, 2))
t.test('a write is visible to all stores at once', (t) => readElsewhere(t, server, 10))
t.test('many instances send beats and follow at once', (t) => followTogether(t, server, 10))
// These end the server, and start it again.
registry(t, server)
sessionFaults(t, server)
