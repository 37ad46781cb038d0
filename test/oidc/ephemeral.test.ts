/** The memory of used sign-ins: each id once, none forgotten before it expires, none without a place for each tenant. */

import t from 'tap'
import { BoundedEphemeral, ProcessEphemeral } from '../../src/oidc/sign-in/ephemeral.ts'

t.test('used once', async (t) => {
  const memory = new ProcessEphemeral()
  const epoch = await memory.epoch()
  t.match(epoch, /^[\w-]{8}$/)
  const used = await Promise.all(Array.from({ length: 50 }, () => memory.use('acme', epoch, 'a', 1000)))
  t.same(used.filter(Boolean), [true])
  t.equal(await memory.use('globex', epoch, 'a', 1000), true, 'the id of another tenant is another one')
})

t.test('another process has forgotten what this one knows: its epoch is another', async (t) => {
  const [one, other] = [new ProcessEphemeral(), new ProcessEphemeral()]
  t.not(await one.epoch(), await other.epoch())
  t.equal(await other.use('acme', await one.epoch(), 'a', 1000), false)
  t.equal(other.size, 0, 'and nothing is noted')
})

t.test('kept until it expires, and not longer than the next uses', async (t) => {
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

t.test('full: refused, nothing is forgotten, and other tenants have their places', async (t) => {
  let now = 5
  const memory = new ProcessEphemeral({ reserved: 10, pool: 100, perTenant: 80 }, () => now)
  const epoch = await memory.epoch()
  const use = (tenant: string, id: number) => memory.use(tenant, epoch, String(id), 60_000)
  for (let i = 0; i < 80; i++) t.equal(await use('loud', i), true)
  await t.rejects(use('loud', 80), /loud/)
  for (let i = 0; i < 80; i++) t.equal(await use('loud', i), false, 'still known')
  for (let i = 0; i < 40; i++) t.equal(await use('second', i), true)
  await t.rejects(use('second', 40), /second/, 'the pool is empty')
  for (let i = 0; i < 10; i++) t.equal(await use('quiet', i), true, 'a place of its own')
  await t.rejects(use('quiet', 10))
  t.equal(memory.size, 130)

  now = 62_000
  for (let i = 0; i < 80; i++) t.equal(await use('second', i + 100), true, 'with the expired ones gone')
  t.equal(await use('quiet', 11), true)
})

t.test('a shared memory: bounded by the own one, and asked again after it could not be', async (t) => {
  const shared = new ProcessEphemeral()
  let away = true
  let asked = 0
  const bounded = new BoundedEphemeral(new ProcessEphemeral({ reserved: 2, pool: 0 }), {
    epoch: () => shared.epoch(),
    use: async (...call) => {
      asked++
      if (away) throw new Error('away')
      return shared.use(...call)
    },
    close: () => {},
  })
  const epoch = await bounded.epoch()
  await t.rejects(bounded.use('acme', epoch, 'a', 1000), /away/)
  away = false
  t.equal(await bounded.use('acme', epoch, 'a', 1000), true)
  t.equal(await bounded.use('acme', epoch, 'a', 1000), false)
  t.equal(asked, 2, 'what was used here is known here')
  await shared.use('acme', epoch, 'b', 1000)
  t.equal(await bounded.use('acme', epoch, 'b', 1000), false, 'used elsewhere')
  await t.rejects(bounded.use('acme', epoch, 'c', 1000))
  t.equal(asked, 3, 'the shared one is not filled')
})
