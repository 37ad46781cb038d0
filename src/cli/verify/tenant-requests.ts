/** The requests of several writers, and their answers, in the form of the order checker. */

import type { ApiKeyView, SeatView } from '../remote/endpoint-answers.ts'
import type { Answer as GatewayAnswer } from '../remote/gateway-client.ts'
import type { CycleRequest } from './cycle-request.ts'
import { type Answer, type AppliedChange, listed, type Invocation } from './tenant-operations.ts'

/** The refusals that depend on the writes of others. */
const EXPECTED: ReadonlySet<string> = new Set([
  'seat_name_taken',
  'seat_not_found',
  'api_key_not_found',
  'precondition_failed',
  'input_invalid',
])

export function isExpected(code: string): boolean {
  return EXPECTED.has(code)
}

interface Making {
  readonly space: string
  /** The name of each API key. */
  readonly keyName: string
  readonly expiresAt: string
}

/** The invocations that administrators ask: all but decisions. */
export type AdministratorInvocation = Exclude<Invocation, { readonly kind: `decide${string}` }>

export function requestOf(
  invocation: AdministratorInvocation,
  { space, keyName, expiresAt }: Making,
): CycleRequest {
  const seat = (permissions: string) => ({ spaces: [space], permissions: textsIn(permissions) })
  const at = 'manage'
  const condition = 'ifMatch' in invocation ? { ifMatch: invocation.ifMatch } : {}
  switch (invocation.kind) {
    case 'create Seat':
      return {
        method: 'POST',
        path: '/v1/seats',
        at,
        body: { name: invocation.name, ...seat(invocation.permissions) },
      }
    case 'update Seat': {
      const { id, name, permissions } = invocation
      const body = {
        ...(name === undefined ? {} : { name }),
        ...(permissions === undefined ? {} : { permissions: textsIn(permissions) }),
      }
      return { method: 'PUT', path: `/v1/seats/${id}`, at, body, ...condition }
    }
    case 'delete Seat':
      return { method: 'DELETE', path: `/v1/seats/${invocation.id}`, at, ...condition }
    case 'read Seat':
      return { method: 'GET', path: `/v1/seats/${invocation.id}`, at }
    case 'apply': {
      const seats = invocation.seats.map(({ name, was, permissions }) => [
        name,
        { ...seat(permissions), ...(was === undefined ? {} : { was }) },
      ])
      const { versions } = invocation
      const body = { seats: Object.fromEntries(seats), ...(versions === null ? {} : { versions }) }
      return { method: 'POST', path: '/v1/seats/apply', at, body }
    }
    case 'create key': {
      const seats = [...invocation.seats, ...(invocation.anchor === undefined ? [] : [invocation.anchor])]
      const body = { name: keyName, seats, expires_at: expiresAt }
      return { method: 'POST', path: '/v1/api-keys', at, body }
    }
    case 'read key':
      return { method: 'GET', path: `/v1/api-keys/${invocation.id}`, at }
    case 'revoke key':
      return { method: 'DELETE', path: `/v1/api-keys/${invocation.id}`, at, ...condition }
  }
}

/** Reads the answer from a 2xx. */
export function answerOf({ kind }: Invocation, { value, tag }: GatewayAnswer<unknown>): Answer {
  const tagged = { code: 'ok', ...(tag === null ? {} : { tag }) }
  if (kind === 'apply') {
    const { changes } = value as { readonly changes: readonly AppliedChange[] }
    return {
      code: 'ok',
      changes: changes.map(({ action, name, was, id }) => ({
        action,
        name,
        ...(was === undefined ? {} : { was }),
        id,
      })),
    }
  }
  if (kind === 'create Seat' || kind === 'update Seat' || kind === 'read Seat') {
    const { id, name, permissions } = value as SeatView
    return { ...tagged, ...(kind === 'create Seat' ? { id } : {}), name, permissions: listed(permissions) }
  }
  if (kind === 'create key') return { ...tagged, id: (value as ApiKeyView).id }
  if (kind !== 'read key') return { code: 'ok' }
  const { seats, revoked_at: revoked } = value as ApiKeyView
  return { ...tagged, seats: seats.join(' '), revoked: revoked !== undefined }
}

function textsIn(listing: string): string[] {
  return listing === '' ? [] : listing.split(' ')
}
