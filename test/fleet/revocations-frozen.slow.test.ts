/**
 * Revocations while an instance, or one of its workers, is frozen or dead: it is named, nothing is claimed of what it has
 * open, and once it runs again it cuts all of that and decides nothing by the state before.
 */

import t, { type Test } from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { countsOf, type Credential, getting, startOpenUpstream } from './open-exchanges.ts'
import { closed, partOf, Revoking, sumOf } from './revoking.ts'

const { open, upstream } = await startOpenUpstream(t)
/** The last gateway has workers: connections go to one and the other. */
const fleet = await startFleet(t, { upstream, workers: (name) => (name === 'c' ? 2 : 1) })
const { gateways, first } = fleet
const [second, third] = [fleet.at(1), fleet.at(2)]
const revoking = await Revoking.at(fleet)

/** What a new user has, and has open: twice at each gateway, so that each worker has some of it. */
async function newUser() {
  const user = revoking.user()
  const token = await revoking.token(user)
  const twice = async (gateway: FleetGateway) => [
    ...(await open(gateway, token)),
    ...(await open(gateway, token)),
  ]
  return { user, token, exchanges: await Promise.all(gateways.map(twice)) }
}

/** Connections on which the gateway has answered a request, so that one of its processes has accepted them. */
async function connections({ port }: FleetGateway, credential: Credential): Promise<readonly RawClient[]> {
  const clients = Array.from({ length: 4 }, () => new RawClient(port))
  await Promise.all(clients.map((client) => client.send(getting('/v1/trainings', credential)).responses(1)))
  return clients
}

/** Once all three instances are on the list, and answer. */
async function whole(): Promise<void> {
  const attempt = async () => ({ answer: await revoking.revoke(first, { user: revoking.user() }) })
  await until(async () => (await closed(attempt)).answer.instances.length === 3, 'three instances')
}

/** A revocation by the first gateway while another is stopped. */
async function whileStopped(
  t: Test,
  stopped: FleetGateway,
  { stop, go }: { stop: () => Promise<void> | void; go: () => Promise<unknown> | void },
): Promise<void> {
  const { user, token, exchanges } = await newUser()
  const clients = await connections(stopped, token)
  await stop()
  const answer = await revoking.revoke(first, { user })
  t.equal(answer.state, 'partial')
  t.equal(answer.instances.length, 3)
  const { how, ms, cut } = partOf(answer, stopped)
  t.same([how, cut], ['lease_ended', null], 'nothing is claimed of it')
  t.ok(ms !== null && ms >= LEASE && ms < 10 * (LEASE + MARGIN), `its lease has ended after ${ms} ms`)
  const answering = gateways.flatMap((gateway, at) =>
    partOf(answer, gateway).cut === null ? [] : (exchanges[at] ?? []),
  )
  t.same(countsOf(answering), sumOf(answer), 'what the others have cut')
  // These wait in its sockets, and are read before anything that it is told.
  for (const client of clients) client.send(getting('/v1/trainings', token))
  t.ok(
    exchanges[gateways.indexOf(stopped)]?.some(({ isOpen }) => isOpen),
    'what it has open is still open',
  )
  await go()
  await Promise.all(exchanges.flat().map((each) => each.cut()))
  for (const { all } of await Promise.all(clients.map((client) => client.responses(2))))
    t.not(all[1]?.status, 200, 'a request from before it continues')
  t.same(
    await revoking.decisions(token),
    gateways.map(() => '401 token_revoked'),
  )
  for (const client of clients) client.close()
  await whole()
}

t.test('an instance is frozen', async (t) => {
  for (const messages of ['late', 'in time'])
    await t.test(`messages are ${messages}`, async (t) => {
      const stop = async () => {
        if (messages === 'late') second.toRedis?.freeze()
        await second.freeze()
      }
      const go = async () => {
        second.thaw()
        // Its own reading tells it: the messages wait for longer.
        if (messages === 'late')
          await until(
            async () => (await revoking.decisions(await revoking.token('x'), [second]))[0] === 'allow',
            'a lease',
          )
        await second.toRedis?.heal()
      }
      await whileStopped(t, second, { stop, go })
    })
})

t.test('one of the workers of an instance is frozen', async (t) => {
  const [, worker = 0] = third.workers
  await whileStopped(t, third, {
    stop: () => void process.kill(worker, 'SIGSTOP'),
    go: () => void process.kill(worker, 'SIGCONT'),
  })
})

t.test('an instance is killed: its connections end with it, and it starts with the revocation', async (t) => {
  const { user, token, exchanges } = await newUser()
  await second.kill()
  const answer = await revoking.revoke(first, { user })
  t.equal(answer.state, 'partial')
  t.match(partOf(answer, second), { how: 'lease_ended', cut: null })
  t.same(sumOf(answer), countsOf([0, 2].flatMap((at) => exchanges[at] ?? [])))
  await second.start()
  t.same(
    await revoking.decisions(token),
    gateways.map(() => '401 token_revoked'),
  )
  await whole()
})
