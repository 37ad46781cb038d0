/** Parallel changes of one Seat, each made on what was read: none is lost. With real gateways on each store. */

import t, { type Test } from 'tap'
import { startFleet } from '../fleet/fleet.ts'
import { adminRequest, type Answer, Client } from '../support/client.ts'
import { served } from '../support/served.ts'
import { startWorld } from '../support/world.ts'

const WRITERS = 20

type Send = (method: string, path: string, body?: unknown, ifMatch?: string) => Promise<Answer>

function senderTo(port: number, key: string): { send: Send; close: () => void } {
  const client = new Client(port)
  return {
    send: (method, path, body, ifMatch) => {
      const [headers, text] = adminRequest(key, body)
      return client.send(
        method,
        path,
        ifMatch === undefined ? headers : { ...headers, 'if-match': ifMatch },
        text,
      )
    },
    close: () => client.close(),
  }
}

interface ReadSeat {
  readonly permissions: readonly string[]
  readonly etag: string | undefined
}

async function seatAt(send: Send, path: string): Promise<ReadSeat> {
  const { status, body, json, headers } = await served(() => send('GET', path))
  if (status !== 200) throw new Error(`${path}: ${status} ${body}`)
  return { permissions: json.permissions, etag: headers.etag }
}

/** A creation that is answered with 503 may have been made: each has a name of its own. @returns the path of the Seat */
async function createSeat(send: Send): Promise<string> {
  let tries = 0
  const seat = () => ({ name: `Shared ${++tries}`, spaces: ['s1'], permissions: [] })
  const { status, body, json } = await served(() => send('POST', '/v1/seats', seat()))
  if (status !== 200) throw new Error(body)
  return `/v1/seats/${json.id}`
}

/** Adds a permission to the Seat, as an administrator would: a 503 is tried again. @returns how often another writer was faster */
async function add(send: Send, path: string, permission: string): Promise<number> {
  for (let lost = 0; ; lost++) {
    const { permissions, etag } = await seatAt(send, path)
    // A write that is answered with 503 may have been made.
    if (permissions.includes(permission)) return lost
    const written = await send('PUT', path, { permissions: [...permissions, permission] }, etag)
    if (written.status === 200) return lost
    if (written.status === 503) continue
    if (written.status !== 412 || written.json.code !== 'precondition_failed') throw new Error(written.body)
  }
}

async function race(t: Test, ports: readonly number[], key: string): Promise<void> {
  const senders = Array.from({ length: WRITERS }, (_, at) => senderTo(ports[at % ports.length] ?? 0, key))
  const [first] = senders
  if (first === undefined) throw new Error('no writer')
  const path = await createSeat(first.send)
  const wanted = senders.map((_, at) => `thing-${at}:read`)
  const lost = await Promise.all(senders.map(({ send }, at) => add(send, path, wanted[at] ?? '')))
  const { permissions } = await seatAt(first.send, path)
  t.same(permissions.toSorted(), wanted.toSorted(), 'each change is there')
  t.ok(
    lost.some((count) => count > 0),
    'some writers were late',
  )
  for (const { close } of senders) close()
}

t.test(`${WRITERS} parallel writers of one gateway on SQLite`, async (t) => {
  const world = await startWorld(t)
  await race(t, [world.port], world.keys.acme ?? '')
})

t.test(`${WRITERS} parallel writers at three gateways on PostgreSQL`, async (t) => {
  const fleet = await startFleet(t)
  await race(
    t,
    fleet.gateways.map(({ port }) => port),
    fleet.key,
  )
})
