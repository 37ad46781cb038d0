/**
 * Revocations while an instance, or one of its workers, is frozen or dead: it is named, nothing is claimed of what it has
 * open, and once it runs again it cuts all of that and decides nothing by the state before.
 */

import t, { type Test } from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { REVOCATIONS } from '../revocations/support.ts'
import { adminRequest } from '../support/client.ts'
import { RawClient } from '../support/raw-client.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { countsOf, type Credential, getting, headOf, startOpenUpstream } from './open-exchanges.ts'
import { closed, partOf, type Revoked, Revoking, sumOf } from './revoking.ts'

const { open, upstream } = await startOpenUpstream(t)
/** The last gateway has workers: connections go to one and the other. */
const fleet = await startFleet(t, { upstream, workers: (name) => (name === 'c' ? 2 : 1) })
const { gateways, first } = fleet
const [second, third] = [fleet.at(1), fleet.at(2)]
const revoking = await Revoking.at(fleet)
const REVOKED = gateways.map(() => '401 token_revoked')

/** Connections to a gateway: the kernel gives each worker some of them. */
const MANY = Array.from({ length: 4 })

/** What a new user has, and has open. */
async function newUser() {
  const user = revoking.user()
  const token = await revoking.token(user)
  const opened = async (gateway: FleetGateway) =>
    (await Promise.all(MANY.map(() => open(gateway, token)))).flat()
  return { user, token, exchanges: await Promise.all(gateways.map(opened)) }
}

/** Connections on which the gateway has answered a request, so that one of its processes has accepted them. */
async function connections({ port }: FleetGateway, credential: Credential): Promise<readonly RawClient[]> {
  const clients = MANY.flatMap(() => MANY.map(() => new RawClient(port)))
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
  t.same(await revoking.decisions(token), REVOKED)
  for (const client of clients) client.close()
  await whole()
}

t.test('an instance is frozen, and another write takes it off the list before the revocation', async (t) => {
  const { user, token, exchanges } = await newUser()
  await second.freeze()
  await fleet.makeSeat(first, 'Another')
  await until(async () => {
    const { json } = await served(() => fleet.admin(first, 'GET', '/v1/fleet'))
    return json.data.length === 2
  }, 'a list without it')
  const answer = await revoking.revoke(first, { user })
  t.equal(answer.state, 'partial')
  t.match(partOf(answer, second), { how: 'lease_ended', cut: null })
  t.ok(exchanges[1]?.every(({ isOpen }) => isOpen))
  second.thaw()
  await Promise.all(exchanges.flat().map((each) => each.cut()))
  t.same(await revoking.decisions(token), REVOKED)
  await whole()
})

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

t.test('the primary of an instance is frozen, and its workers decide until their lease ends', async (t) => {
  await whileStopped(t, third, {
    stop: () => void process.kill(third.pid, 'SIGSTOP'),
    go: () => void process.kill(third.pid, 'SIGCONT'),
  })
})

/** The first answer to a revocation on any of the connections: those to a frozen worker have none until it runs again. */
async function firstAnswer(clients: readonly RawClient[], user: string): Promise<Revoked> {
  const [headers, body = ''] = adminRequest(fleet.key, { subject: { user } })
  const length = { 'content-length': String(Buffer.byteLength(body)) }
  const request = `${headOf('POST', REVOCATIONS, { ...headers, ...length })}${body}`
  const answers = clients.map(async (client) => (await client.send(request).responses(2)).all[1])
  const answer = await Promise.any(
    answers.map(async (each) => (await each) ?? Promise.reject(new Error('no answer'))),
  )
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
  return JSON.parse(answer.body)
}

t.test('the instance that answers has a frozen worker', async (t) => {
  const { user, token, exchanges } = await newUser()
  const clients = await connections(third, token)
  const [, worker = 0] = third.workers
  process.kill(worker, 'SIGSTOP')
  const answer = await firstAnswer(clients, user)
  t.equal(answer.state, 'partial')
  t.match(partOf(answer, third), { how: 'lease_ended', cut: null })
  t.ok(exchanges[2]?.some(({ isOpen }) => isOpen))
  process.kill(worker, 'SIGCONT')
  await Promise.all(exchanges.flat().map((each) => each.cut()))
  t.same(await revoking.decisions(token), REVOKED)
  for (const client of clients) client.close()
  await whole()
})

t.test('the primary of the instance that answers is frozen', async (t) => {
  const { answer, user, token, exchanges } = await until(async () => {
    const made = await newUser()
    const [client] = await connections(third, made.token)
    process.kill(third.pid, 'SIGSTOP')
    // A worker whose lease has ended answers 503, and has not made the revocation.
    const answer = await firstAnswer(client === undefined ? [] : [client], made.user).catch(() => null)
    process.kill(third.pid, 'SIGCONT')
    return answer !== null && { ...made, answer }
  }, 'a revocation by a worker whose lease has not ended')
  t.equal(answer.state, 'partial')
  t.match(answer.instances, [{ how: 'lease_ended', cut: null }])
  t.same(partOf(answer, third), answer.instances[0], 'nothing is known of the others')
  t.same(await revoking.decisions(token), REVOKED, user)
  await Promise.all(exchanges.flat().map((each) => each.cut()))
  await whole()
})

t.test('an instance is killed: its connections end with it, and it starts with the revocation', async (t) => {
  const { user, token, exchanges } = await newUser()
  await second.kill()
  const answer = await revoking.revoke(first, { user })
  t.equal(answer.state, 'partial')
  t.match(partOf(answer, second), { how: 'lease_ended', cut: null })
  t.same(sumOf(answer), countsOf([0, 2].flatMap((at) => exchanges[at] ?? [])))
  const again = await revoking.revoke(first, { user })
  t.equal(again.state, 'closed', 'off the list, and its process has ended')
  await second.start()
  t.same(await revoking.decisions(token), REVOKED)
  await whole()
})
