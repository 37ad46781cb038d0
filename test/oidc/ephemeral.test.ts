/**
 * The memory of used sign-ins: each id counts once, no id is forgotten before it expires, and each tenant has a share
 * of its own.
 */

import t from 'tap'
import { boundedEphemeral, ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'

t.test('an id can be used once', async (t) => {
  const memory = new ProcessEphemeral()
  const epoch = await memory.epoch()
  t.match(epoch, /^[\w-]{8}$/)
  const used = await Promise.all(Array.from({ length: 50 }, () => memory.use('acme', epoch, 'a', 1000)))
  t.same(used.filter(Boolean), [true])
  t.equal(
    await memory.use('globex', epoch, 'a', 1000),
    true,
    'the same id of another tenant is a different id',
  )
})

t.test("another process lacks this one's memory, so it has another epoch", async (t) => {
  const [one, other] = [new ProcessEphemeral(), new ProcessEphemeral()]
  t.not(await one.epoch(), await other.epoch())
  t.equal(await other.use('acme', await one.epoch(), 'a', 1000), false)
  t.equal(other.size, 0, 'no use is recorded')
})

t.test('an id is kept until it expires, and removed by later uses', async (t) => {
  let now = 5
  const memory = new ProcessEphemeral({}, () => now)
  const epoch = await memory.epoch()
  const use = (id: string) => memory.use('acme', epoch, id, 60_000)
  for (let i = 0; i < 1000; i++) t.equal(await use(`a${i}`), true)
  now = 60_000
  t.equal(await use('a0'), false)
  now = 62_000
  t.equal(await use('a0'), true)
  for (let i = 0; i < 100; i++) await use(`b${i}`)
  t.equal(memory.size, 101)
})

t.test('a full memory refuses, forgets nothing, and leaves other tenants their shares', async (t) => {
  let now = 5
  const memory = new ProcessEphemeral({ reserved: 10, pool: 100, perTenant: 80 }, () => now)
  const epoch = await memory.epoch()
  const use = (tenant: string, id: number) => memory.use(tenant, epoch, String(id), 60_000)
  for (let i = 0; i < 80; i++) t.equal(await use('loud', i), true)
  await t.rejects(use('loud', 80), /loud/)
  for (let i = 0; i < 80; i++) t.equal(await use('loud', i), false, 'the id is still known')
  for (let i = 0; i < 40; i++) t.equal(await use('second', i), true)
  await t.rejects(use('second', 40), /second/, 'the shared pool is empty')
  for (let i = 0; i < 10; i++) t.equal(await use('quiet', i), true, "the tenant's own share")
  await t.rejects(use('quiet', 10))
  t.equal(memory.size, 130)

  now = 62_000
  for (let i = 0; i < 80; i++) t.equal(await use('second', i + 100), true, 'expired ids make room')
  t.equal(await use('quiet', 11), true)
})

t.test('a shared memory is bounded by the local one, and queried again after a failure', async (t) => {
  const shared = new ProcessEphemeral()
  let away = true
  let calls = 0
  const bounded = boundedEphemeral(new ProcessEphemeral({ reserved: 2, pool: 0 }), {
    epoch: () => shared.epoch(),
    use: async (...call) => {
      calls++
      if (away) throw new Error('away')
      return shared.use(...call)
    },
  })
  const epoch = await bounded.epoch()
  await t.rejects(bounded.use('acme', epoch, 'a', 1000), /away/)
  away = false
  t.equal(await bounded.use('acme', epoch, 'a', 1000), true)
  t.equal(await bounded.use('acme', epoch, 'a', 1000), false)
  t.equal(calls, 2, 'a use through the shared memory is known locally')
  await shared.use('acme', epoch, 'b', 1000)
  t.equal(await bounded.use('acme', epoch, 'b', 1000), false, 'the id was used on another instance')
  await t.rejects(bounded.use('acme', epoch, 'c', 1000))
  t.equal(calls, 3, 'the shared memory is not filled')
})
