/** Which decisions the Overview leaves out: all readings of the gateway's own endpoints, and nothing of a service. */

import t from 'tap'
import { startWorld } from '../support/world.ts'

interface Asked {
  readonly code: string
  readonly method: string
  readonly route: string | null
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/built-in-reads.js'
const loaded: { isBuiltInRead(decision: Asked, place: { api: string; auth: string }): boolean } =
  await import(MODULE)

for (const [api, auth] of [
  ['', ''],
  ['/_seatgate', '/_gate'],
] as const)
  t.test(`behind the prefixes "${api}" and "${auth}"`, async (t) => {
    const world = await startWorld(t, {
      routes: [
        'GET /v1/trainings: a:b',
        'GET /v1/seatsets: a:b',
        'GET /other/v1/seats: a:b',
        'POST /v1/trainings: a:b',
      ],
      top: ['console: true', `api: { prefix: "${api}", auth_prefix: "${auth}" }`],
    })
    const headers = { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' }
    const { json } = await world.client.send('GET', `${api}/v1/routes?limit=100`, headers)
    const rows: { method: string; path: string; line: number; permission: string }[] = json.data
    t.ok(rows.some(({ line }) => line > 0) && rows.some(({ line }) => line === 0))
    for (const { method, path, line, permission } of rows) {
      // A public route leaves no decision of a tenant.
      if (permission === 'public') continue
      const asked = { code: 'allow', method, route: `${method} ${path}` }
      const isRead = method === 'GET' || /(?:plan|explain)$/.test(path)
      t.equal(loaded.isBuiltInRead(asked, { api, auth }), line === 0 && isRead, `${method} ${path}`)
      t.notOk(loaded.isBuiltInRead({ ...asked, code: 'permission_denied' }, { api, auth }), 'refused')
    }
    t.notOk(loaded.isBuiltInRead({ code: 'allow', method: 'GET', route: null }, { api, auth }))
  })
