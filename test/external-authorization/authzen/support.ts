/** A gateway with a decision listener, and a program that asks it by AuthZEN. */

import type { Test } from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { type Answer, Client } from '../../support/client.ts'
import { startWorld, type World, type WorldOptions } from '../../support/world.ts'
import { decisionPort } from '../support.ts'

export const URL = 'https://decisions.example.com'

export async function startPep(t: Test, options: WorldOptions = {}) {
  const decision = `decision: { listen: 127.0.0.1:0, url: "${URL}" }`
  const world = await startWorld(t, { ...options, top: [...(options.top ?? []), decision] })
  const port = decisionPort(world)
  const client = new Client(port)
  t.teardown(() => client.close())
  /** Makes an API key. */
  const newKey = async (seats: readonly string[], tenant = 'acme'): Promise<{ id: string; key: string }> => {
    const { json } = await world.admin('POST', '/v1/api-keys', { name: 'pep', seats }, tenant)
    return { id: json.id, key: json.key }
  }
  await world.seat('pep', ['admin'], ['access:evaluate'])
  // Of the tenant `acme`; holds `access:evaluate` in the admin space, and nothing else.
  const { key } = await newKey(['pep'])
  /** A question over one kept-alive connection, with the key. */
  const ask = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
    return client.send('POST', path, all, typeof body === 'string' ? body : JSON.stringify(body))
  }
  /** The decision and the reason. */
  const decide = async (body: unknown) => {
    const { status, json } = await ask('/access/v1/evaluation', body)
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`)
    return `${json.decision} ${json.context.reason}`
  }
  return { world, port, key, ask, decide, newKey, send: client.send.bind(client) }
}

/** Records users of acme and the Seats of their sign-in, by their ids. */
export async function signIn(
  world: World,
  users: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const store = await openStore(world.config.store)
  for (const [sub, seats] of Object.entries(users))
    await store.recordSignIn('acme', { sub, email: null, name: null, at: Date.now() }, seats)
  await store.close()
}

/** A question about a route. */
export function onRoute(subject: string, method: string, pattern: string, space?: string) {
  return question(subject, method, `route:${pattern}`, space)
}

/** @param subject `type:id` @param resource the same */
export function question(subject: string, action: string, resource: string, space?: string) {
  const context = space === undefined ? {} : { context: { space } }
  return { subject: entity(subject), action: { name: action }, resource: entity(resource), ...context }
}

function entity(text: string) {
  const at = text.indexOf(':')
  return { type: text.slice(0, at), id: text.slice(at + 1) }
}
