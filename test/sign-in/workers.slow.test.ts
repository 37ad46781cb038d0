/** Two workers without Redis: any worker completes a sign-in, also a new one. */

import t from 'tap'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startProcesses } from './processes.ts'

const world = await startProcesses(t, {
  names: ['w'],
  store: 'sqlite:./seatgate.db',
  redis: null,
  workers: 2,
})
const gateway = world.at(0)
world.user('alice', { memberOf: ['Viewer'] })

t.test('each request on a new connection, to any worker', async (t) => {
  t.equal(gateway.workers.length, 2)
  const done = await Promise.all(Array.from({ length: 20 }, () => world.visitor().signIn()))
  t.same(new Set(done.map(({ status }) => status)), new Set([200]))
  const replies = await Promise.all(
    done.map(({ json }) => world.visitor().ask('/v1/trainings', { token: json.access_token, space: 'main' })),
  )
  t.same(new Set(replies.map(({ status }) => status)), new Set([200]))
})

t.test('one callback at both workers at the same time succeeds once', async (t) => {
  // From its beginning again if the store answers too late.
  const { statuses } = await served(async () => {
    const visitor = world.visitor()
    const answer = await visitor.answer()
    const pages = await Promise.all(Array.from({ length: 8 }, () => visitor.send(answer.href)))
    const statuses = pages.map(({ status }) => status).toSorted()
    return { status: statuses.at(-1) ?? 0, statuses }
  })
  t.same(statuses, [200, ...Array(7).fill(400)])
})

t.test('logout: the cookie is invalid at both workers once the response arrives', async (t) => {
  for (let round = 0; round < 3; round++) {
    const visitor = world.visitor()
    await visitor.page('/pages/a')
    const attacker = world.visitor().withCookiesOf(visitor)
    const before = await Promise.all(Array.from({ length: 8 }, () => attacker.ask('/v1/me')))
    t.same(new Set(before.map(({ status }) => status)), new Set([200]))
    t.equal((await served(() => visitor.logout())).status, 200)
    const after = await Promise.all(Array.from({ length: 8 }, () => attacker.ask('/v1/me')))
    t.same(new Set(after.map(({ status }) => status)), new Set([401]), `round ${round}`)
  }
})

t.test('the workers that began it have stopped', async (t) => {
  const visitors = Array.from({ length: 4 }, () => world.visitor())
  const answers = await Promise.all(visitors.map((visitor) => visitor.answer()))
  const session = world.visitor()
  await session.page('/pages/a')
  const before = gateway.workers
  for (const pid of before) process.kill(pid, 'SIGKILL')
  const replaced = async () => {
    const now = gateway.workers
    const fresh = now.length === 2 && now.every((pid) => !before.includes(pid))
    return (
      fresh && (await gateway.ready())['status'] === 'ready' && (await gateway.ready())['workers'] === 'ok'
    )
  }
  await until(replaced, 'new workers', { pause: 100, patience: 120_000 })
  const back = await Promise.all(answers.map((answer, i) => visitors[i]?.send(answer.href)))
  t.same(
    back.map((page) => page?.status),
    [200, 200, 200, 200],
  )
  t.equal((await session.ask('/v1/me')).status, 200, 'sessions are in the store')
})
