/** What the answer to a revocation says that the gateway cannot reach. */

import t from 'tap'
import { startWorld } from '../support/world.ts'
import { REVOCATIONS } from './support.ts'

t.test('forwarded credentials: only where a route of the tenant passes them on', async (t) => {
  const world = await startWorld(t, {
    upstream: ['pass_authorization: true'],
    routes: ['GET /open: public'],
    tables: { 'other.yaml': 'upstream: main\ntenant: globex\nroutes:\n  GET /other: authenticated\n' },
  })
  for (const [tenant, all] of [
    ['acme', []],
    ['globex', [{ what: 'forwarded_authorization' }]],
  ] as const) {
    const { json } = await world.admin('POST', REVOCATIONS, { subject: { user: 'alice' } }, tenant)
    t.same(json.not_covered, all, tenant)
  }
})
