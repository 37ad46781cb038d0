/** Questions about routes that are for the callers of one tenant. */

import t from 'tap'
import { onRoute, startPep } from './support.ts'

const { world, decide } = await startPep(t, {
  routes: [
    'GET /v1/ours: { permission: trainings:read, tenant: acme }',
    'GET /v1/theirs: { permission: trainings:read, tenant: globex }',
    'GET /v1/me: { permission: authenticated, tenant: globex }',
  ],
})

t.test('a route of another tenant', async (t) => {
  await world.seat('Viewer', ['main'], ['trainings:read'])
  const may = (path: string) => decide(onRoute('seat:Viewer', 'GET', path, 'main'))
  t.equal(await may('/v1/ours'), 'true allow')
  t.equal(await may('/v1/theirs'), 'false tenant_mismatch')
  t.equal(await may('/v1/me'), 'false tenant_mismatch')
})
