/** `npm run demo`: its curl lines pasted into a shell, and the sign-in of a browser. */

import { execFile, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { reservePort } from '../support/servers/ports.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { Visitor } from '../sign-in/visitor.ts'

const DEMO = fileURLToPath(new URL('./demo.ts', import.meta.url))
const noCurl = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

t.test('the lines work as printed', async (t) => {
  const listen = `127.0.0.1:${await reservePort(t)}`
  const env = { ...process.env, SEATGATE_LISTEN: listen, SEATGATE_OPS: '127.0.0.1:0' }
  const demo = spawn(process.execPath, [DEMO], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => demo.kill('SIGKILL'))
  let out = ''
  demo.stdout.on('data', (chunk) => {
    out += chunk
  })
  await until(
    () => out.includes('Ctrl-C'),
    () => `it prints ${out}`,
  )
  await t.test('curl', { skip: noCurl }, async (t) => {
    const lines = out.split('\n')
    const variables = lines.filter((line) => /^[A-Z]+='/.test(line)).join('\n')
    const statuses: number[] = []
    for (const line of lines.filter((line) => line.startsWith('curl '))) {
      const script = `${variables}\n${line} -o /dev/null -w '%{http_code}' 2>/dev/null`
      // `-i` writes its header to the same place as the body.
      const run = async () => (await promisify(execFile)('bash', ['-c', script])).stdout
      // The demo has the usual time limits: where its store takes longer, a user pastes the line again.
      const { status } = await served(async () => ({ status: Number(await run()) }))
      statuses.push(status)
    }
    t.same(statuses, [200, 401, 403, 201, 200, 200])
  })
  await signInTo(t, /http:\/\/\S+\/_seatgate\/console\//.exec(out)?.[0] ?? '')
  const ended = new Promise((resolve) => demo.once('exit', resolve))
  demo.kill('SIGINT')
  t.equal(await ended, 0)
})

/** As the console begins it, at the sample provider. */
async function signInTo(t: Test, page: string): Promise<void> {
  const { origin, pathname } = new URL(page)
  t.match(await (await fetch(page)).text(), '<!doctype html>')
  const visitor = new Visitor('carol', origin, new Set())
  const login = { tenant: 'acme', return_to: pathname }
  const begun = await served(() => visitor.postJson(`${origin}/auth/oidc/login`, login))
  t.equal(begun.status, 200)
  const toChoice = await visitor.walk(begun.json.authorization_url, (url) => url.includes('/choose-user/'))
  const choice = new URL(toChoice.headers.location ?? '', toChoice.url).href
  t.match((await visitor.send(choice)).body, /value="carol">Carol<.*Seats: admin/)
  const back = await visitor.onward(await visitor.post(choice, { user: 'carol' }), (url) => url === page)
  t.equal(back.headers.location, page)
  const me = await served(() => visitor.send(`${origin}/auth/oidc/me`))
  t.match(me.json, { user: 'carol', auth: 'session' })
  const seats = await served(() => visitor.send(`${origin}/v1/seats`, { headers: { space: 'admin' } }))
  t.match(seats.json.data, [{ name: 'admin' }, { name: 'Viewer' }, { name: 'Editor' }])
}
