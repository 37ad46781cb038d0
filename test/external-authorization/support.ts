/** A gateway with a decision listener, and questions to it. */

import type { Test } from 'tap'
import { type Answer, Client } from '../support/client.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'

export interface Asking {
  readonly world: World
  readonly port: number
  /** A key of the Seat `reader`, which holds `trainings:read` in `main`. */
  readonly key: string
  readonly keyId: string
  /** A question over one kept-alive connection. */
  ask(path: string, headers: Record<string, string> | readonly string[], method?: string): Promise<Answer>
}

const TOP = ['decision: { listen: 127.0.0.1:0 }']

export async function startAsking(t: Test, options: WorldOptions = {}): Promise<Asking> {
  const world = await startWorld(t, { ...options, top: [...(options.top ?? []), ...TOP] })
  const port = decisionPort(world)
  const client = new Client(port)
  t.teardown(() => client.close())
  await world.seat('reader', ['main'], ['trainings:read'])
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'reader', seats: ['reader'] })
  return {
    world,
    port,
    key: json.key,
    keyId: json.id,
    ask: (path, headers, method = 'GET') => client.send(method, path, headers),
  }
}

export function decisionPort({ gateway }: World): number {
  const { decision } = gateway.addresses
  if (decision === null) throw new Error('there is no decision listener')
  return decision.port
}

/** The fields of nginx' dialect. */
export function nginxFields(method: string, path: string, host = 'api.example.com'): Record<string, string> {
  return { 'x-original-method': method, 'x-original-url': `https://${host}${path}` }
}

/** The fields of Traefik, Caddy and HAProxy. */
export function forwardFields(
  method: string,
  path: string,
  host = 'api.example.com',
): Record<string, string> {
  return {
    'x-forwarded-method': method,
    'x-forwarded-uri': path,
    'x-forwarded-proto': 'https',
    'x-forwarded-host': host,
  }
}
