/** What the failures of a run mean. */

import { CommandFailed } from '../command.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { leftInWords, type NotRemoved } from './made-objects.ts'
import { OTHER_STORE } from './managed-places.ts'

/**
 * Whether others changed what the run made, such as a script that deletes, or whether a load balancer sent a
 * write twice: the next cycle starts over.
 */
export function isPassing(cause: unknown): boolean {
  if (!(cause instanceof GatewayRefusal)) return false
  const { status, code } = cause.problem
  return (status === 404 && code !== 'route_not_found') || code === 'seat_name_taken'
}

export function explained(cause: unknown, space: string): unknown {
  if (!(cause instanceof GatewayRefusal)) return cause
  if (cause.problem.code === 'api_key_invalid') return new CommandFailed(`${cause.message}. ${OTHER_STORE}`)
  if (cause.problem.code !== 'grant_exceeds_own') return cause
  return new CommandFailed(
    `the API key may not grant canary:read in space ${space}: give it a Seat there with canary:read or seats:grant. ${cause.message}`,
  )
}

export function withLeft(failure: unknown, left: readonly NotRemoved[]): unknown {
  if (left.length === 0) return failure
  const message = failure instanceof Error ? failure.message : String(failure)
  return new CommandFailed(`${message}\n${leftInWords(left)}`)
}
