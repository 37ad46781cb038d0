/** A browser waits for its redirect to a slow provider, and the tables change: it is not one of the requests that a change cuts. */

import t from 'tap'
import { HostileProvider } from '../oidc/hostile-provider.ts'
import { metric } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { startSignIn } from './world.ts'

const DISCOVERY = '/.well-known/openid-configuration'

t.test('a reload leaves a browser its redirect', async (t) => {
  const open: (() => void)[] = []
  const world = await startSignIn(t, { answer: (_, response) => void open.push(() => response.end('{}')) })
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  t.equal((await provider.signIn(world)).status, 200)
  // The discovery document is forgotten.
  await provider.takes(world)
  provider.answers.set(DISCOVERY, () => null)
  const key = world.gateway.keys['acme'] ?? ''
  const download = world.visitor().ask('/v1/me', { headers: { 'x-api-key': key } })
  const page = world.visitor().walk(`${world.origin}/pages/a`)
  await until(() => open.length === 1 && provider.count(DISCOVERY) > 0, 'both requests wait')
  await world.gateway.reload()
  const again = () => metric(world.gateway, 'seatgate_decisions_again_total{code="allow"}')
  await until(async () => (await again()) >= 1, 'the download is decided again')
  for (const end of open) end()
  t.equal((await download).status, 200)
  provider.release()
  const answer = await page
  t.equal(answer.status, 503, 'the provider gave an error, and the browser gets the page that says so')
  t.match(answer.body, /sign-in/i)
})
