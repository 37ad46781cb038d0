/** Revocations at a running gateway, by its administrator. */

import type { Answer } from '../support/client.ts'
import type { World } from '../support/world.ts'

export const REVOCATIONS = '/v1/revocations'

export const NONE = { sessions: 0, api_keys: 0, websockets: 0, streams: 0, requests: 0 }

/** A revocation that is answered; throws on a refusal. */
export async function revoke(world: Pick<World, 'admin'>, subject: object, more: object = {}) {
  const answer = await world.admin('POST', REVOCATIONS, { subject, ...more })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
  return answer.json
}

/** `allow`, or the status with the code of the refusal. */
export function outcome(answer: Pick<Answer, 'status' | 'json'>): string {
  return answer.status < 400 ? 'allow' : `${answer.status} ${answer.json.code}`
}

export async function entries(world: World, tenant = 'acme'): Promise<readonly AuditEntry[]> {
  return (await world.admin('GET', '/v1/audit?limit=100', undefined, tenant)).json.data
}

interface AuditEntry {
  readonly seq: number
  readonly hash: string
  readonly action: string
  readonly request_id: string
  readonly actor: unknown
  readonly target: { readonly kind: string; readonly id: string; readonly name: string | null }
}
