/** A gateway with a decision listener, and a program that asks it by AuthZEN. */

import type { Test } from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import type { Answer } from '../../support/client.ts'
import type { World, WorldOptions } from '../../support/world.ts'
import { startDeciding } from '../support.ts'

export const URL = 'https://decisions.example.com'

export async function startPep(t: Test, options: WorldOptions = {}) {
  const { world, port, newKey, send } = await startDeciding(t, options, URL)
  await world.seat('pep', ['admin'], ['access:evaluate'])
  // Of the tenant `acme`; holds `access:evaluate` in the admin space, and nothing else.
  const { key } = await newKey(['pep'])
  /** A question over one kept-alive connection, with the key. */
  const ask = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const all = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers }
    return send('POST', path, all, typeof body === 'string' ? body : JSON.stringify(body))
  }
  /** The decision and the reason. */
  const decide = async (body: unknown) => {
    const { status, json } = await ask('/access/v1/evaluation', body)
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`)
    return `${json.decision} ${json.context.reason}`
  }
  return { world, port, key, ask, decide, newKey, send }
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
