/**
 * The commands of the README where Node.js and npm are all there is: in a slim image of them run `npm ci`, the check of types and
 * the demo. Each version has a test file of its own, as `npm ci` takes its time.
 */

import { globSync } from 'node:fs'
import type { Test } from 'tap'
import { served } from '../support/served.ts'
import { reservePort } from '../support/servers/ports.ts'
import { copyClone } from './clone-copy.ts'
import { Root } from './slim-root.ts'

/** @param versions as the images `node:20-slim` and so on have them */
export async function trySetUp(
  t: Test,
  versions: { readonly node: string; readonly npm: string },
): Promise<void> {
  const root = await Root.slim(t, versions)
  t.same(globSync('{usr/,}lib/**/libatomic*', { cwd: root.folder }), [])
  t.match(await root.run(t, ['node', '--version']), new RegExp(`^v${versions.node}\\.`))
  copyClone(root.path('clone'))
  const inClone = { cwd: '/clone' }
  await root.run(t, ['npm', 'ci', '--prefer-offline'], inClone)
  t.equal(await root.run(t, ['npm', 'run', '--silent', 'typecheck'], inClone), '')

  const listen = `127.0.0.1:${await reservePort(t)}`
  const env = { SEATGATE_LISTEN: listen, SEATGATE_OPS: '127.0.0.1:0' }
  const demo = root.start(t, ['npm', 'run', 'demo'], { ...inClone, env })
  await demo.prints('Ctrl-C')
  t.notMatch(demo.out, /warning/i)
  const url = `http://${listen}/v1/trainings`
  const token = /^ALICE='([^']+)'$/m.exec(demo.out)?.[1] ?? ''
  const alice = { Authorization: `Bearer ${token}`, Space: 'main' }
  const ask = (init: RequestInit) => served(() => fetch(url, init))
  t.equal((await ask({ headers: alice })).status, 200)
  t.equal((await ask({ headers: { Space: 'main' } })).status, 401)
  t.equal((await ask({ method: 'POST', headers: alice, body: '{"title":"Ladders"}' })).status, 403)
}
