/** Forged or moved entries of the shared cache, and forged messages, are rejected. */

import { Redis } from 'ioredis'
import t from 'tap'
import type { Acknowledgement, Announcement } from '../../src/coherence/bus.ts'
import { SeatQuestion } from '../../src/model/decision-seat.ts'
import { RedisBus } from '../../src/redis/redis-bus.ts'
import { connectRedis, connectSubscriber } from '../../src/redis/connect.ts'
import { Keys } from '../../src/redis/keys.ts'
import { Seal } from '../../src/redis/redis-seal.ts'
import { SeatCache } from '../../src/redis/seat-cache.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { redisUrl } from '../../src/config/redis-settings.ts'
import { startRedis } from '../support/servers/redis.ts'
import { until } from '../support/until.ts'

/** ms. A read that gives up would come from the store as well, and a connection that gives up drops the write after it. */
const PATIENCE = 60_000
const secrets = [new Uint8Array(32).fill(1), new Uint8Array(40).fill(2)]

t.test('a seal is valid for one text, one place and one list of secrets', async (t) => {
  const seal = new Seal(secrets)
  const sealed = seal.seal('here', 'text')
  t.equal(seal.open('here', sealed), 'text')
  t.equal(new Seal(secrets).open('here', sealed), 'text', 'in every gateway')
  t.equal(seal.open('there', sealed), null)
  t.equal(seal.open('here', `${sealed}!`), null)
  for (const text of ['', 'text', 'A'.repeat(22), `${'A'.repeat(22)}text`, `${'*'.repeat(22)}text`])
    t.equal(seal.open('here', text), null, text)
  t.equal(new Seal([...secrets].reverse()).open('here', sealed), null)
  t.equal(new Seal([Buffer.concat(secrets)]).open('here', sealed), null, 'another list with the same bytes')
  seal.setSecrets([new Uint8Array(32).fill(3)])
  t.equal(seal.open('here', sealed), null, 'after a change of secrets')
})

const configOf = (url: string) => {
  const config = redisUrl(url, '/')
  if (config instanceof InvalidValue) throw new Error(config.message)
  return config
}

t.test('the cache accepts only values that a gateway wrote, at their own key', async (t) => {
  const server = await startRedis(t)
  const connection = connectRedis(configOf(server.url), () => {}, PATIENCE, PATIENCE)
  const attacker = new Redis(server.url)
  t.teardown(() => [connection, attacker].forEach((each) => each.disconnect()))
  await new Promise((resolve) => connection.once('ready', resolve))
  let reads = 0
  const seat = (id: string) => ({
    id,
    name: `name of ${id}`,
    spaces: ['s1'],
    permissions: ['a:b'],
    complete: true,
  })
  const question = new SeatQuestion('s1', 'a:b')
  const store = {
    grantByName: async () => ({ seq: 1, mark: 1, value: { seat: null, givenUpAt: null } }),
    spacesByName: async () => ({ seq: 1, mark: 1, value: null }),
    seatById: async () => ({ seq: 1, mark: 1, value: null }),
    grantById: async (_tenant: string, id: string) => {
      reads++
      return { seq: 1, mark: 1, value: seat(id) }
    },
    apiKeyById: async () => ({ seq: 1, mark: 1, value: null }),
  }
  const keys = new Keys('test:')
  const cache = () =>
    new SeatCache(store, { connection, keys, seal: new Seal(secrets) }, { isCurrent: () => true }, Date.now)
  t.equal((await cache().grantById('acme', 'one', question)).source, 'store')
  await until(async () => (await attacker.keys('*')).length === 1, 'a cached value')
  let found = await cache().grantById('acme', 'one', question)
  await until(async () => {
    found = await cache().grantById('acme', 'one', question)
    return found.source === 'redis'
  }, 'a value from the cache')
  t.same(found.value, seat('one'))

  const one = keys.value('seat', 'acme', 'one')
  const two = keys.value('seat', 'acme', 'two')
  const written = (await attacker.get(one)) ?? ''
  const forgedValue = JSON.stringify([1, 1, { ...seat('one'), permissions: ['*'] }])
  const poison: Record<string, string> = {
    'without a seal': forgedValue,
    'under the seal of another text': written.slice(0, 22) + forgedValue,
    'under a seal of zeros': `${'A'.repeat(22)}${forgedValue}`,
    'no JSON': 'x'.repeat(100),
    'cut off': written.slice(0, -3),
  }
  for (const [what, text] of Object.entries(poison)) {
    await attacker.set(one, text)
    t.match(await cache().grantById('acme', 'one', question), { source: 'store', value: seat('one') }, what)
    await until(async () => (await attacker.get(one)) !== text, 'a value in place of the forged one')
  }
  await attacker.set(two, written)
  t.match(
    await cache().grantById('acme', 'two', question),
    { source: 'store', value: seat('two') },
    'moved from another key',
  )
  await attacker.lpush(keys.value('seat', 'acme', 'three'), 'x')
  t.match(await cache().grantById('acme', 'three', question), { source: 'store' }, 'another type')
  t.ok(reads > 6)
})

t.test('a forged acknowledgement is ignored', async (t) => {
  const server = await startRedis(t)
  const config = configOf(server.url)
  const bus = (own: readonly Uint8Array[]) => {
    const publisher = connectRedis(config, () => {})
    const subscriber = connectSubscriber(config, publisher, () => {})
    return new RedisBus(publisher, subscriber, new Keys('test:'), new Seal(own))
  }
  const received: (Announcement | Acknowledgement)[] = []
  const [one, two, foreign] = [bus(secrets), bus(secrets), bus([new Uint8Array(32)])]
  const receiver = { announced: received.push.bind(received), acknowledged: received.push.bind(received) }
  one.open('one', receiver as never)
  two.open('two', { announced: () => {}, acknowledged: () => {} })
  foreign.open('stranger', { announced: () => {}, acknowledged: () => {} })
  t.teardown(() => Promise.all([one, two, foreign].map((each) => each.close())))
  await until(() => one.up && two.up && foreign.up, 'the connection of each bus')
  const attacker = new Redis(server.url)
  t.teardown(() => attacker.disconnect())
  const witness = new Redis(server.url)
  t.teardown(() => witness.disconnect())
  const sent: string[] = []
  witness.on('message', (_channel, message: string) => sent.push(message))
  await witness.subscribe('test:heard:one')
  const forged = { to: 'one', from: 'two', number: 1 }
  await attacker.publish('test:heard:one', JSON.stringify(forged))
  await attacker.publish('test:heard:one', 'A'.repeat(22) + JSON.stringify(forged))
  // Each bus sends itself messages with the number 0.
  const arrived = () => sent.filter((message) => message.includes('"number":1')).length
  await until(
    () => {
      // A bus sends nothing while it has no connection.
      foreign.acknowledge(forged)
      return arrived() > 2
    },
    () => `Redis has ${arrived()} of the forged messages`,
  )
  const genuine = { ...forged, number: 2 }
  await until(() => {
    two.acknowledge(genuine)
    return received.length > 0
  }, 'an acknowledgement')
  for (const each of received) t.same(each, genuine)
})
