/** `memory:` bounds the caches only: evicted entries are read again. */

import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { extensions } from '../../src/composition.ts'
import { DecisionPoint } from '../../src/runtime/decision-point.ts'
import { ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'
import { startWorld, type World } from '../support/world.ts'
import { metric } from '../support/operations.ts'

const MiB = 1024 * 1024
const SILENT = { info: () => {}, warn: () => {}, error: () => {} }
const SEATS = 200
/** 7.5 KiB for each Seat: all of them exceed the bound by half. */
const permissionsOf = (name: string) =>
  Array.from({ length: 27 }, (_, at) => `${name}${'x'.repeat(90)}${at}:read`)

async function requestAll(world: World): Promise<Set<number>> {
  const statuses = new Set<number>()
  for (let i = 0; i < SEATS; i++) {
    const token = await world.token([`s1:Seat${i}`])
    statuses.add(
      (await world.client.send('GET', '/v1/trainings', { authorization: `Bearer ${token}`, space: 's1' }))
        .status,
    )
  }
  return statuses
}

t.test('more Seats in use than fit into memory, then space for all after a reload', async (t) => {
  const world = await startWorld(t, { top: ['memory: { tokens: 1MiB, api_keys: 1MiB, seats: 1MiB }'] })
  for (let i = 0; i < SEATS; i++)
    await world.seat(`Seat${i}`, ['s1'], ['trainings:list', ...permissionsOf(`seat-${i}-`)])
  for (let round = 0; round < 2; round++) {
    t.same(await requestAll(world), new Set([200]))
    const held = await metric(world, 'seatgate_memory_bytes')
    t.ok(held > MiB / 2 && held < MiB + 10_000, `${held} bytes`)
    t.ok((await metric(world, 'seatgate_memory_seat_names')) < 140)
  }

  const text = readFileSync(world.config.file, 'utf8')
  writeFileSync(world.config.file, text.replace('seats: 1MiB', 'seats: 8MiB'))
  await world.reload()
  t.same(await requestAll(world), new Set([200]))
  t.equal(await metric(world, 'seatgate_memory_seat_names'), SEATS)

  writeFileSync(world.config.file, text)
  await world.reload()
  t.same(await requestAll(world), new Set([200]))
  t.ok((await metric(world, 'seatgate_memory_bytes')) < MiB + 10_000)
})

t.test('a decision, which is kept while its request is open, holds no reference to Seats', async (t) => {
  const world = await startWorld(t)
  await world.seat('Viewer', ['s1'], ['trainings:list', 'seats:list'])
  const store = await openStore(world.config.store)
  t.teardown(() => store.close())
  const ports = { ephemeral: new ProcessEphemeral(), log: SILENT }
  const decisionPoint = await DecisionPoint.forOneDecision(
    store,
    ports,
    world.config.memory,
    extensions.endpoints,
  )
  const { engine } = await decisionPoint.compile(world.config)
  const authorization = [`Bearer ${await world.token(['s1:Viewer'])}`]
  const credentials = { apiKey: [], authorization, cookie: [], space: ['s1'] }
  const browser = { method: 'GET', rawHeaders: [], upgrade: false }
  for (const target of ['/v1/trainings', '/v1/seats']) {
    const evaluation = await engine.evaluate({ method: 'GET', target, host: null, credentials, browser })
    t.equal(evaluation.decision.answer, 'allow', target)
    t.notOk(refersToPermissions(evaluation), target)
  }
})

/** The permissions of a Seat are the only sets of texts that a decision reads. */
function refersToPermissions(value: unknown, seen = new Set<unknown>()): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  if (value instanceof Set) return value.has('trainings:list')
  return Object.values(value).some((each) => refersToPermissions(each, seen))
}
