/** The work for a connection beyond the limit does not grow with the connections that may not be evicted. */

import { performance } from 'node:perf_hooks'
import t from 'tap'
import type { ClientConnection } from '../../../src/http/server/client-connection.ts'
import { Eviction } from '../../../src/http/server/eviction.ts'
import { Ledger } from '../../../src/lib/ledger.ts'
import { Queue } from '../../../src/lib/queue.ts'

const CONNECTIONS = 1000

for (const state of ['opening', 'returning'] as const)
  t.test(`connections in their first second, ${state}: none is inspected`, async (t) => {
    const queue = () => new Queue<ClientConnection>()
    const queues = { opening: queue(), active: queue(), idle: queue(), returning: queue() }
    const eviction = new Eviction(queues, new Ledger(), () => t.fail('none may be evicted'))
    let inspected = 0
    for (let i = 0; i < CONNECTIONS; i++)
      queues[state].add({
        // Stays young, however slow the machine.
        queuedAt: performance.now() + 3_600_000,
        get hasUnreadBytes() {
          inspected++
          return false
        },
      } as ClientConnection)
    for (let i = 0; i < 10; i++) t.notOk(eviction.evictOne(CONNECTIONS * 100, null))
    t.equal(inspected, 0)
  })
